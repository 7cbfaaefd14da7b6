// One post as DOM nodes; everything that came from somebody goes in as text or through `draw`.

import { draw } from "./markdown.js";

const EMOJI = {
  "+1": "👍", thumbsup: "👍", "-1": "👎", thumbsdown: "👎", eyes: "👀", white_check_mark: "✅", x: "❌",
  hourglass: "⌛", hourglass_flowing_sand: "⏳", warning: "⚠️", heart: "❤️", pray: "🙏", lock: "🔒",
  no_entry: "⛔", no_entry_sign: "🚫", speech_balloon: "💬", clock1: "🕐", zzz: "💤", memo: "📝",
};
// Drawn here, so that they look the same where no emoji font is installed.
const DRAWN = { "👍": "up", "👎": "down", "👀": "eyes", "✅": "check" };
const OFFERED = ["+1", "-1"];
const FACES = ["one", "two", "three"];

/** Make an element: `make("p.note", "text", child …)`. */
export function make(kind, ...children) {
  const [tag, ...classes] = kind.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  element.append(...children);
  return element;
}

export function button(kind, label, act, name) {
  const element = make(`button${kind ? `.${kind}` : ""}`, label);
  element.type = "button";
  if (name) element.setAttribute("aria-label", name);
  element.addEventListener("click", act);
  return element;
}

/**
 * Draw a post.
 *
 * `view`: {me, user(id), names, canEdit, replies, on: {open, react, edit, remove, picture}}
 */
export function drawPost(post, view) {
  const author = view.user(post.user_id);
  const system = post.type.startsWith("system_");
  const webhook = post.props.from_webhook === "true";
  const shown = webhook ? post.props.override_username || post.props.webhook_display_name || author.username : author.username;
  const element = make(`article.post${system ? ".system" : ""}${post.delete_at ? ".deleted" : ""}`);
  element.dataset.id = post.id;
  const face = make(`div.face${author.is_bot ? ".bot" : `.${FACES[author.place % 3] || "none"}`}`, String(shown).slice(0, 1));
  face.setAttribute("aria-hidden", "true");
  const meta = make("div.meta", make("strong", system ? "System" : String(shown)));
  if (author.is_bot || webhook) meta.append(make("span.tag", "BOT"));
  const time = make("time", new Date(post.create_at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }));
  time.dateTime = new Date(post.create_at).toISOString();
  meta.append(time);
  if (post.edit_at) meta.append(make("span", "(edited)"));
  const body = make("div.body");
  if (post.delete_at) {
    body.append("(message deleted)");
  } else {
    body.append(draw(post.message, view.names));
    for (const attachment of post.props.attachments || []) body.append(drawAttachment(attachment, view.names));
    for (const file of (post.metadata && post.metadata.files) || []) body.append(drawFile(file, view));
  }
  const content = make("div", meta, body);
  if (!post.delete_at && !system) {
    meta.append(drawDeeds(post, view));
    content.append(drawMarks(post, view, author));
  }
  if (view.replies) {
    const { count, last } = view.replies;
    content.append(button("answers", `${count} ${count === 1 ? "reply" : "replies"} · last by ${last}`, () => view.on.open(post)));
  }
  element.append(face, content);
  return element;
}

function drawDeeds(post, view) {
  const deeds = make("span.deeds");
  if (view.on.open) deeds.append(button("", "Reply", () => view.on.open(post)));
  if (post.user_id === view.me.id) {
    deeds.append(button("", "Edit", () => view.on.edit(post)), button("", "Delete", () => view.on.remove(post)));
  }
  return deeds;
}

function drawMarks(post, view, author) {
  const marks = make("div.marks");
  const groups = new Map();
  for (const reaction of (post.metadata && post.metadata.reactions) || []) {
    const sign = EMOJI[reaction.emoji_name] || `:${reaction.emoji_name}:`;
    if (!groups.has(sign)) groups.set(sign, []);
    groups.get(sign).push(reaction);
  }
  const offered = author.is_bot ? OFFERED.map((name) => EMOJI[name]) : [];
  for (const sign of new Set([...offered, ...groups.keys()])) {
    const given = groups.get(sign) || [];
    const mine = given.find((reaction) => reaction.user_id === view.me.id);
    const name = (mine || given[0] || {}).emoji_name || OFFERED.find((each) => EMOJI[each] === sign);
    const mark = button("", drawSign(sign), () => view.on.react(post, name, Boolean(mine)), `React with ${name}`);
    if (given.length) mark.append(` ${given.length}`);
    mark.setAttribute("aria-pressed", String(Boolean(mine)));
    mark.title = given.map((reaction) => view.user(reaction.user_id).username).join(", ");
    marks.append(mark);
  }
  return marks;
}

function drawSign(sign) {
  if (!DRAWN[sign]) return sign;
  const picture = make("img");
  picture.src = `/page/${DRAWN[sign]}.svg`;
  picture.alt = sign;
  return picture;
}

function drawAttachment(attachment, names) {
  const element = make("div.attachment");
  if (/^#[0-9a-f]{3,6}$/i.test(attachment.color || "")) element.style.borderLeftColor = attachment.color;
  if (attachment.pretext) element.append(draw(attachment.pretext, names));
  if (attachment.title) element.append(make("h3", String(attachment.title)));
  if (attachment.text) {
    const text = make("div.body");
    text.append(draw(attachment.text, names));
    element.append(text);
  }
  for (const field of attachment.fields || []) {
    const value = make("div.body");
    value.append(draw(String(field.value), names));
    element.append(make("strong", String(field.title)), value);
  }
  if (attachment.footer) element.append(make("small", String(attachment.footer)));
  return element;
}

function drawFile(file, view) {
  if (!String(file.mime_type).startsWith("image/") || file.mime_type.includes("svg")) return make("p", `📎 ${file.name}`);
  const picture = make("img.picture");
  picture.alt = file.name;
  view.on.picture(file.id).then((address) => { picture.src = address; });
  return picture;
}

// The chat page: who writes, which channel is open, what is in it, and what happens live.

import { button, drawPost, make } from "./post.js";
import { Server, Trouble } from "./server.js";
import { Suggestions } from "./suggestions.js";

const byId = (id) => document.getElementById(id);
const app = byId("app");
const places = { channel: byId("posts"), thread: byId("replies") };
const TYPING_MS = 5000;
const PER_PAGE = 100;

let people = []; // who one can write as
let questions = [];
let bot = null;
let server = null; // as the person who writes
let channels = [];
let current = null; // the open channel
let thread = ""; // root id of the open thread
let editing = ""; // id of the post that is being edited
let older = ""; // id of the oldest post that was listed, while there are older ones
const users = new Map();
const posts = new Map();
const unread = new Map();
const typing = new Map(); // `${channel}/${root}/${user}` → timer

const me = () => server.person;
const names = () => new Set([...users.values()].map((user) => user.username));
const user = (id) => users.get(id) || { id, username: "…", is_bot: false, place: 0 };
const inThread = (root) => [...posts.values()].filter((post) => post.root_id === root && !post.delete_at);
const isRoot = (post) => post.channel_id === current.id && !post.root_id && !post.original_id;
const label = (channel) => (channel.type === "D" ? user(channel.name.split("__").find((id) => id !== me().id) || me().id).username : channel.display_name);
const byTime = (a, b) => a.create_at - b.create_at || a.id.localeCompare(b.id);

// ---- starting, changing the writer and the channel

async function start() {
  const given = await (await fetch("/sandbox")).json();
  ({ people, bot, questions } = given);
  people.forEach((person, place) => users.set(person.id, { ...person, place, is_bot: false }));
  if (bot) users.set(bot.id, { ...bot, is_bot: true, place: 0 });
  for (const person of people) {
    const input = make("input");
    Object.assign(input, { type: "radio", name: "writer", value: person.username });
    input.addEventListener("change", () => attempt(() => writeAs(person)));
    byId("people").append(make("label", input, person.username));
  }
  const wanted = people.find((person) => person.username === sessionStorage.getItem("writer")) || people[0];
  byId("people").querySelector(`input[value="${CSS.escape(wanted.username)}"]`).checked = true;
  await writeAs(wanted);
}

async function writeAs(person) {
  if (server) server.stop();
  server = new Server(person);
  sessionStorage.setItem("writer", person.username);
  unread.clear();
  const before = current;
  await loadChannels();
  if (current !== before) return listen();
  const again = current && channels.find((channel) => channel.id === current.id);
  const first = channels.find((channel) => channel.name === "triage") || channels[0];
  await open(again || first, again ? thread : "");
  listen();
}

function listen() {
  server.listen((frame) => attempt(() => hear(frame)), (live) => {
    byId("state").textContent = live ? "" : "Reconnecting…";
  });
}

async function loadChannels() {
  if (bot) await server.ask("POST", "/channels/direct", [me().id, bot.id]);
  const [team] = await server.ask("GET", "/users/me/teams");
  channels = await server.ask("GET", `/users/me/teams/${team.id}/channels`);
  await know(channels.filter((channel) => channel.type === "D").flatMap((channel) => channel.name.split("__")));
  drawChannels();
}

async function know(ids) {
  const missing = [...new Set(ids)].filter((id) => id && !users.has(id));
  if (!missing.length) return;
  for (const found of await server.ask("POST", "/users/ids", missing)) users.set(found.id, { ...found, place: 0 });
}

async function open(channel, root = "") {
  const changed = !current || current.id !== channel.id;
  current = channel;
  thread = root;
  editing = "";
  unread.delete(channel.id);
  app.classList.remove("menu");
  byId("menu").setAttribute("aria-expanded", "false");
  if (changed) posts.clear();
  await load();
  if (current !== channel) return; // another one was chosen meanwhile
  byId("title").textContent = label(channel);
  byId("write").querySelector("textarea").placeholder =
    channel.type === "D" || !bot ? `Message ${label(channel)}` : `Ask with @${bot.username} …`;
  drawChannels();
  drawAll();
  places.channel.scrollTop = places.channel.scrollHeight;
}

async function load(before = "") {
  const query = before ? `&before=${before}` : "";
  const channel = current;
  const got = await server.ask("GET", `/channels/${channel.id}/posts?per_page=${PER_PAGE}${query}`);
  const list = Object.values(got.posts);
  await know([...list.map((post) => post.user_id), ...list.flatMap(reactors)]);
  if (current !== channel) return;
  for (const post of list) if (!isOld(post)) posts.set(post.id, post);
  older = got.prev_post_id ? got.order.at(-1) : "";
}

const reactors = (post) => ((post.metadata && post.metadata.reactions) || []).map((reaction) => reaction.user_id);

// ---- what happens live

async function hear(frame) {
  const { event, data, broadcast } = frame;
  if (event === "hello" && current) {
    await load();
    drawAll();
  } else if (event === "posted" || event === "post_edited") {
    const post = JSON.parse(data.post);
    await know([post.user_id]);
    stopTyping(post.channel_id, post.root_id, post.user_id);
    if (post.channel_id !== current.id) {
      if (event === "posted" && post.user_id !== me().id) unread.set(post.channel_id, (unread.get(post.channel_id) || 0) + 1);
      drawChannels();
      return;
    }
    keep(post, event === "posted");
  } else if (event === "post_deleted") {
    const post = JSON.parse(data.post);
    if (post.root_id) posts.delete(post.id);
    else if (posts.has(post.id)) posts.set(post.id, { ...post, delete_at: Date.now() });
    for (const reply of inThread(post.id)) posts.delete(reply.id);
    if (current && post.channel_id === current.id) drawAll();
  } else if (event === "reaction_added" || event === "reaction_removed") {
    const reaction = JSON.parse(data.reaction);
    await know([reaction.user_id]);
    const post = posts.get(reaction.post_id);
    if (!post) return;
    const same = (each) => each.user_id === reaction.user_id && each.emoji_name === reaction.emoji_name;
    const rest = ((post.metadata && post.metadata.reactions) || []).filter((each) => !same(each));
    if (event === "reaction_added") rest.push(reaction);
    post.metadata = { ...post.metadata, reactions: rest };
    drawAll();
  } else if (event === "typing") {
    showTyping(broadcast.channel_id, data.parent_id, data.user_id);
  } else if (["user_added", "direct_added", "group_added", "user_removed", "channel_updated", "channel_deleted", "channel_created"].includes(event)) {
    await loadChannels();
  }
}

/** Tell whether a later state of a post is known: answers and events overtake each other. */
function isOld(post) {
  const known = posts.get(post.id);
  return Boolean(known) && known.update_at > post.update_at;
}

/** Keep a post that is new or changed, and draw it. */
function keep(post, fresh) {
  if (isOld(post)) return;
  const known = posts.get(post.id);
  posts.set(post.id, { ...post, metadata: { ...post.metadata, reactions: (known && known.metadata && known.metadata.reactions) || (post.metadata || {}).reactions } });
  const mine = post.root_id && posts.get(post.root_id) && posts.get(post.root_id).user_id === me().id;
  if (fresh && !known && mine && !thread && user(post.user_id).is_bot) openThread(posts.get(post.root_id), false);
  drawAll(fresh && !known ? post.id : "");
}

function showTyping(channel, root, id) {
  const key = `${channel}/${root}/${id}`;
  clearTimeout(typing.get(key));
  typing.set(key, setTimeout(() => stopTyping(channel, root, id), TYPING_MS));
  know([id]).then(drawTyping);
}

function stopTyping(channel, root, id) {
  for (const key of [`${channel}/${root}/${id}`, `${channel}//${id}`]) {
    clearTimeout(typing.get(key));
    typing.delete(key);
  }
  drawTyping();
}

// ---- drawing

function drawTyping() {
  const here = { channel: [], thread: [] };
  for (const key of typing.keys()) {
    const [channel, root, id] = key.split("/");
    if (current && channel === current.id) here[root && root === thread ? "thread" : "channel"].push(user(id).username);
  }
  const say = (who) => (who.length ? `${[...new Set(who)].join(", ")} ${who.length > 1 ? "are" : "is"} typing…` : "");
  byId("typing").textContent = say(here.channel);
  byId("replying").textContent = say(here.thread);
}

function drawChannels() {
  for (const [id, wanted] of [["channels", (kind) => kind !== "D"], ["directs", (kind) => kind === "D"]]) {
    byId(id).replaceChildren(
      ...channels.filter((channel) => wanted(channel.type)).map((channel) => {
        const entry = button("", make("span", `${channel.type === "D" ? "" : "# "}${label(channel)}`), () => attempt(() => open(channel)));
        entry.setAttribute("aria-current", String(Boolean(current) && channel.id === current.id));
        if (unread.has(channel.id)) entry.append(make("b", String(unread.get(channel.id))));
        return make("li", entry);
      }),
    );
  }
}

function drawAll(fresh = "") {
  const roots = [...posts.values()].filter(isRoot).sort(byTime);
  const top = [];
  if (older) {
    const more = button("older", "Older messages", () => attempt(async () => { await load(older); drawAll(); }));
    top.push(more);
  }
  const spoken = roots.some((post) => !post.type);
  fill("channel", [...top, ...withDays(roots), ...(spoken ? [] : [drawHint()])], fresh);
  const root = thread && posts.get(thread);
  byId("thread").hidden = !root;
  app.classList.toggle("threaded", Boolean(root));
  if (root) fill("thread", [root, ...inThread(thread).sort(byTime)].map((post) => drawOne(post, false)), fresh);
  drawTyping();
}

function fill(place, elements, fresh) {
  const box = places[place];
  const down = box.scrollHeight - box.scrollTop - box.clientHeight < 60;
  const kept = box.querySelector(".edit textarea");
  box.replaceChildren(...elements);
  const field = box.querySelector(".edit textarea");
  if (kept && field) {
    field.value = kept.value;
    field.focus();
  }
  const arrived = fresh && box.querySelector(`[data-id="${CSS.escape(fresh)}"]`);
  if (arrived) arrived.classList.add("fresh");
  if (down || (arrived && posts.get(fresh).user_id === me().id)) box.scrollTop = box.scrollHeight;
}

function withDays(list) {
  let day = "";
  return list.flatMap((post) => {
    const now = new Date(post.create_at).toLocaleDateString([], { weekday: "long", day: "numeric", month: "long" });
    const line = now === day ? [] : [make("div.day", now)];
    day = now;
    return [...line, drawOne(post, true)];
  });
}

function drawOne(post, inChannel) {
  if (post.id === editing) return drawEditor(post);
  const answers = inChannel ? inThread(post.id).sort(byTime) : [];
  return drawPost(post, {
    me: me(),
    user,
    names: names(),
    replies: answers.length ? { count: answers.length, last: user(answers.at(-1).user_id).username } : null,
    on: {
      open: inChannel ? (root) => openThread(root, true) : null,
      react: (to, name, given) => attempt(() => react(to, name, given)),
      edit: (which) => { editing = which.id; drawAll(); document.querySelector(".edit textarea").focus(); },
      remove: (which) => attempt(() => server.ask("DELETE", `/posts/${which.id}`)),
      picture: (id) => server.picture(id),
    },
  });
}

function drawEditor(post) {
  const field = make("textarea");
  field.value = post.message;
  field.setAttribute("aria-label", "Edit the message");
  const end = () => { editing = ""; drawAll(); byId("write").querySelector("textarea").focus(); };
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { event.stopPropagation(); end(); }
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      attempt(async () => { keep(await server.ask("PUT", `/posts/${post.id}/patch`, { message: field.value }), false); end(); });
    }
  });
  return make("article.post.edit", make("div.face", "✎"), make("div", field, make("small", "Enter saves, Esc leaves it as it is")));
}

function drawHint() {
  const direct = current.type === "D";
  const ask = (question) => (direct || !bot ? question : `@${bot.username} ${question}`);
  const hint = make("section.hint", make("h2", "Ask the guidelines"));
  hint.append(make("p", direct ? "Everything you write here is a question. Try one:" : `Mention @${bot ? bot.username : "the bot"} with a question; the answer comes in the thread, with its sources and scores. Try one:`));
  for (const question of questions) hint.append(button("", question, () => attempt(() => send(ask(question), ""))));
  return hint;
}

// ---- what the writer does

function openThread(root, focus) {
  thread = root.id;
  drawAll();
  places.thread.scrollTop = places.thread.scrollHeight;
  if (focus) byId("reply").querySelector("textarea").focus();
}

function closeThread() {
  thread = "";
  drawAll();
  byId("write").querySelector("textarea").focus();
}

async function send(message, root) {
  const post = await server.ask("POST", "/posts", {
    channel_id: current.id,
    message,
    root_id: root,
    pending_post_id: `${me().id}:${Date.now()}`,
  });
  if (post.channel_id === current.id) {
    if (!root) thread = "";
    keep(post, true);
  }
}

function react(post, name, given) {
  if (given) return server.ask("DELETE", `/users/me/posts/${post.id}/reactions/${encodeURIComponent(name)}`);
  return server.ask("POST", "/reactions", { user_id: me().id, post_id: post.id, emoji_name: name });
}

async function attempt(deed) {
  try {
    await deed();
    byId("state").textContent = server && server.socket && server.socket.readyState > 1 ? "Reconnecting…" : "";
  } catch (trouble) {
    if (!(trouble instanceof Trouble)) throw trouble;
    byId("state").textContent = trouble.message;
  }
}

function wire(form, root) {
  const field = form.querySelector("textarea");
  const grow = () => { field.style.height = "auto"; field.style.height = `${field.scrollHeight + 2}px`; };
  let told = 0;
  new Suggestions(byId("suggestions"), field, () => [...names()].sort((a, b) => (b === (bot || {}).username) - (a === (bot || {}).username)));
  field.addEventListener("input", () => {
    grow();
    if (Date.now() - told > 3000) {
      told = Date.now();
      server.act("user_typing", { channel_id: current.id, parent_id: root() });
    }
  });
  field.addEventListener("keydown", (event) => {
    if (event.defaultPrevented) return;
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      form.requestSubmit();
    } else if (event.key === "ArrowUp" && !field.value && !event.altKey) {
      const mine = [...posts.values()].filter((post) => post.user_id === me().id && !post.delete_at && !post.type && post.root_id === root()).sort(byTime).at(-1);
      if (mine) { event.preventDefault(); editing = mine.id; drawAll(); document.querySelector(".edit textarea").focus(); }
    }
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const message = field.value;
    if (!message.trim()) return;
    field.value = ""; // at once: the post can be seen, and edited, before the answer is here
    grow();
    attempt(async () => {
      try {
        await send(message, root());
      } catch (trouble) {
        field.value = field.value || message;
        grow();
        throw trouble;
      }
    });
  });
}

wire(byId("write"), () => "");
wire(byId("reply"), () => thread);
byId("close").addEventListener("click", closeThread);
byId("menu").addEventListener("click", () => {
  byId("menu").setAttribute("aria-expanded", String(app.classList.toggle("menu")));
});
byId("channel").addEventListener("click", (event) => {
  if (!byId("menu").contains(event.target)) app.classList.remove("menu");
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    if (app.classList.contains("menu")) app.classList.remove("menu");
    else if (thread) closeThread();
  } else if (event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
    event.preventDefault();
    const shown = [...channels.filter((c) => c.type !== "D"), ...channels.filter((c) => c.type === "D")];
    const step = event.key === "ArrowDown" ? 1 : shown.length - 1;
    const at = shown.findIndex((channel) => channel.id === current.id);
    attempt(() => open(shown[(at + step) % shown.length]));
  }
});
attempt(start);

// Markdown to DOM nodes. What is drawn is built anew from a list of known elements: nothing of the text's
// own HTML, no attribute but a checked address, no picture from anywhere.

const parser = window.markdownit("default", { html: false, breaks: true, linkify: false }).disable("image");
const SIDES = { "text-align:right": "right", "text-align:center": "center" };

// A column's side as a class: the page allows no inline style.
for (const cell of ["th_open", "td_open"]) {
  parser.renderer.rules[cell] = (tokens, at, options, env, self) => {
    const side = SIDES[tokens[at].attrGet("style")];
    tokens[at].attrs = side ? [["class", side]] : [];
    return self.renderToken(tokens, at, options);
  };
}

const KNOWN = new Set(
  "P BR STRONG EM S DEL CODE PRE BLOCKQUOTE UL OL LI TABLE THEAD TBODY TR TH TD HR H1 H2 H3 H4 H5 H6 A".split(" "),
);
/** Draw a text; `names` are the user names that are shown as mentions. */
export function draw(text, names) {
  const drawn = new DOMParser().parseFromString(parser.render(text), "text/html");
  const result = document.createDocumentFragment();
  copy(drawn.body, result, names, false);
  return result;
}

function copy(from, to, names, inCode) {
  for (const node of from.childNodes) {
    if (node.nodeType === Node.TEXT_NODE) {
      if (inCode) to.append(node.data);
      else withMentions(node.data, to, names);
    } else if (node.nodeType === Node.ELEMENT_NODE) {
      if (!KNOWN.has(node.tagName)) {
        to.append(node.textContent);
        continue;
      }
      const made = document.createElement(node.tagName);
      if (node.tagName === "A" && !follow(made, node.getAttribute("href"))) {
        copy(node, to, names, inCode);
        continue;
      }
      if (node.tagName === "OL" && /^\d{1,9}$/.test(node.getAttribute("start") || "")) made.start = node.getAttribute("start");
      if (Object.values(SIDES).includes(node.className)) made.className = node.className;
      copy(node, made, names, inCode || node.tagName === "CODE" || node.tagName === "A");
      if (node.tagName === "TABLE") {
        const wide = document.createElement("div");
        wide.className = "wide";
        wide.append(made);
        to.append(wide);
      } else {
        to.append(made);
      }
    }
  }
}

function follow(link, address) {
  if (!/^https?:\/\//i.test(address || "")) return false;
  link.href = address;
  link.target = "_blank";
  link.rel = "noopener noreferrer nofollow";
  return true;
}

function withMentions(text, to, names) {
  let done = 0;
  for (const match of text.matchAll(/(?<![\w@.])@([a-z0-9._-]+)/gi)) {
    const name = match[1].replace(/[._-]+$/, "").toLowerCase();
    if (!names.has(name) && !["all", "here", "channel"].includes(name)) continue;
    to.append(text.slice(done, match.index));
    const mention = document.createElement("span");
    mention.className = "mention";
    mention.textContent = text.slice(match.index, match.index + name.length + 1);
    to.append(mention);
    done = match.index + name.length + 1;
  }
  to.append(text.slice(done));
}

// A list of names under a text field while somebody types "@…".

export class Suggestions {
  constructor(list, field, names) {
    Object.assign(this, { list, field, names, at: 0, shown: [] });
    field.setAttribute("aria-autocomplete", "list");
    field.addEventListener("input", () => this.update());
    field.addEventListener("blur", () => this.hide());
    field.addEventListener("keydown", (event) => this.key(event));
  }

  begun() {
    const before = this.field.value.slice(0, this.field.selectionStart);
    const match = /(?:^|[\s(])@([a-z0-9._-]*)$/i.exec(before);
    return match ? match[1].toLowerCase() : null;
  }

  update() {
    const begun = this.begun();
    this.shown = begun === null ? [] : this.names().filter((name) => name.startsWith(begun) && name !== begun);
    this.at = 0;
    this.draw();
  }

  draw() {
    this.list.hidden = !this.shown.length;
    this.list.replaceChildren(
      ...this.shown.map((name, number) => {
        const entry = document.createElement("li");
        entry.textContent = `@${name}`;
        entry.setAttribute("role", "option");
        entry.setAttribute("aria-selected", String(number === this.at));
        entry.addEventListener("mousedown", (event) => { event.preventDefault(); this.take(name); });
        return entry;
      }),
    );
    const box = this.field.getBoundingClientRect();
    this.list.style.left = `${box.left}px`;
    this.list.style.bottom = `${window.innerHeight - box.top + 6}px`;
  }

  key(event) {
    if (!this.shown.length) return;
    const last = this.shown.length - 1;
    if (event.key === "ArrowDown") this.at = this.at < last ? this.at + 1 : 0;
    else if (event.key === "ArrowUp") this.at = this.at > 0 ? this.at - 1 : last;
    else if (event.key === "Enter" || event.key === "Tab") this.take(this.shown[this.at]);
    else if (event.key === "Escape") { event.stopPropagation(); this.hide(); }
    else return;
    event.preventDefault();
    if (this.shown.length) this.draw();
  }

  take(name) {
    const at = this.field.selectionStart;
    const start = at - this.begun().length;
    this.field.setRangeText(`${name} `, start, at, "end");
    this.hide();
    this.field.dispatchEvent(new Event("input"));
  }

  hide() {
    this.shown = [];
    this.list.hidden = true;
  }
}

// The server as the page sees it: REST calls as one person, and the live events of that person.

export class Trouble extends Error {}

export class Server {
  constructor(person) {
    this.person = person;
    this.closed = false;
    this.wait = 500;
    this.number = 1;
  }

  async ask(method, path, body) {
    let answer;
    try {
      answer = await fetch(`/api/v4${path}`, {
        method,
        headers: { Authorization: `Bearer ${this.person.token}` },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
    } catch {
      throw new Trouble("The sandbox cannot be reached.");
    }
    const value = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Trouble(value.message || `The sandbox answered ${answer.status}.`);
    return value;
  }

  async picture(id) {
    const answer = await fetch(`/api/v4/files/${id}`, { headers: { Authorization: `Bearer ${this.person.token}` } });
    return URL.createObjectURL(await answer.blob());
  }

  /** Listen for events for as long as the page writes as this person; `told` hears of each, `state` of the line. */
  listen(told, state) {
    if (this.closed) return;
    const address = new URL("/api/v4/websocket", location.href);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(address);
    this.socket = socket;
    socket.onopen = () => this.act("authentication_challenge", { token: this.person.token });
    socket.onmessage = (message) => {
      const frame = JSON.parse(message.data);
      if (this.closed || !frame.event) return;
      if (frame.event === "hello") {
        this.wait = 500;
        state(true);
      }
      told(frame);
    };
    socket.onclose = () => {
      if (this.closed) return;
      state(false);
      setTimeout(() => this.listen(told, state), this.wait);
      this.wait = Math.min(this.wait * 2, 8000);
    };
  }

  act(action, data) {
    if (this.socket && this.socket.readyState === WebSocket.OPEN) {
      this.socket.send(JSON.stringify({ seq: this.number++, action, data }));
    }
  }

  stop() {
    this.closed = true;
    if (this.socket) this.socket.close();
  }
}

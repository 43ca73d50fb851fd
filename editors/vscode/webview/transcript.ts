/**
 * The transcript's page: draws blocks, asks for more at the edges, keeps a bounded number of them.
 *
 * Everything is made of text nodes; nothing of a session is ever parsed as HTML.
 */

import type { Block, Cut, Part } from "../src/transcript/blocks.ts";
import { markup, type Span } from "../src/transcript/markup.ts";
import type { FromPage, ToPage } from "../src/transcript/messages.ts";

declare function acquireVsCodeApi(): { postMessage(message: FromPage): void };

const host = acquireVsCodeApi();
/** Most blocks in the page; what is beyond goes from the far end and is asked for again when needed. */
const KEPT = 400;
const NEAR_PX = 900;
/** UTF-16 units of a summary that is shown whole at once. */
const LONG = 8_000;

const feed = need("feed");
const latest = need("latest");
let atStart = true;
let atEnd = true;
let asked: "before" | "after" | undefined;
let writable = false;
let entryCount = 0;
/** Whether the reader is at the newest entry, and wants to stay there. */
let sticking = true;

window.addEventListener("message", ({ data }: MessageEvent<ToPage>) => receive(data));
window.addEventListener(
  "scroll",
  () => {
    // A page in the background has no height and says nothing about its reader.
    if (window.innerHeight > 0 && document.visibilityState === "visible") {
      sticking = nearBottom();
    }
    edges();
  },
  { passive: true },
);
window.addEventListener("resize", () => {
  if (sticking && atEnd) {
    window.scrollTo(0, document.documentElement.scrollHeight);
  }
});
document.addEventListener("keydown", (event) => key(event));
latest.addEventListener("click", () => host.postMessage({ type: "latest" }));
need("cancel").addEventListener("click", () => host.postMessage({ type: "command", command: "abort", id: "" }));
host.postMessage({ type: "ready" });

function receive(message: ToPage): void {
  switch (message.type) {
    case "session":
      need("title").textContent = message.title;
      need("subtitle").textContent = message.subtitle;
      writable = message.writable;
      entryCount = message.total;
      document.body.classList.toggle("readonly", !writable);
      break;
    case "page":
      place(message);
      break;
    case "update":
      for (const block of message.blocks) {
        const old = find(block.id);
        if (old !== null) {
          const open = old.querySelector("details[open], .divider[aria-expanded=true]") !== null;
          const fresh = draw(block);
          old.replaceWith(fresh);
          if (open) {
            unfold(fresh, true);
          }
        }
      }
      break;
    case "detail":
      show(message.id, message.part, message.text);
      break;
    case "picture":
      showPicture(message.id, message.at, message.src);
      break;
    case "frames":
      showFrames(message.id, message.images, message.note);
      break;
    case "reveal": {
      const found = find(message.id);
      if (found !== null) {
        if (message.open) {
          unfold(found, true);
        }
        const tall = found.getBoundingClientRect().height > window.innerHeight / 2;
        found.scrollIntoView({ block: tall ? "start" : "center" });
        focus(found);
        found.classList.add("found");
        setTimeout(() => found.classList.remove("found"), 1_600);
      }
      break;
    }
    case "running": {
      need("status").hidden = message.text === undefined;
      need("doing").textContent = message.text ?? "";
      break;
    }
    case "trouble":
      asked = undefined;
      feed.append(make("p", { class: "trouble", role: "alert" }, message.text));
      break;
  }
}

function place(page: Extract<ToPage, { type: "page" }>): void {
  const stick = atEnd && sticking;
  const drawn = page.blocks.map((block) => draw(block));
  if (page.place === "replace") {
    feed.replaceChildren(...drawn);
    atStart = page.atStart;
    atEnd = page.atEnd;
  } else if (page.place === "before") {
    const height = document.documentElement.scrollHeight;
    const top = window.scrollY;
    feed.prepend(...drawn);
    window.scrollTo(0, top + document.documentElement.scrollHeight - height);
    atStart = page.atStart;
    if (trim("after")) {
      atEnd = false;
    }
  } else {
    feed.append(...drawn);
    atEnd = page.atEnd;
    if (trim("before")) {
      atStart = false;
    }
  }
  adopt();
  feed.setAttribute("aria-busy", "false");
  feed.querySelector(".empty")?.remove();
  if (feed.childElementCount === 0) {
    feed.append(make("p", { class: "empty" }, "Nothing has been said here yet. What your agent writes shows up by itself."));
  }
  asked = undefined;
  document.body.classList.toggle("at-start", atStart);
  if ((page.place === "replace" && page.focus === undefined) || (page.place === "after" && stick)) {
    window.scrollTo(0, document.documentElement.scrollHeight);
  }
  edges();
}

/** Put the results of tool calls into the calls. */
function adopt(): void {
  for (const result of feed.querySelectorAll<HTMLElement>(":scope > article[data-call]")) {
    const callId = result.dataset["call"] ?? "";
    const call = callId === "" ? null : feed.querySelector(`details.call[data-call="${CSS.escape(callId)}"]`);
    const article = call?.closest("article");
    if (call !== null && call !== undefined && article !== null && article !== result) {
      const summary = call.querySelector("summary");
      const gist = result.dataset["gist"] ?? "";
      summary?.querySelector(".outcome")?.remove();
      summary?.append(make("span", { class: result.classList.contains("failed") ? "outcome bad" : "outcome" }, gist));
      call.append(...result.querySelectorAll(":scope details.result > :not(summary)"));
      call.setAttribute("data-result", result.dataset["id"] ?? "");
      result.classList.add("adopted");
    }
  }
}

function trim(from: "before" | "after"): boolean {
  let removed = false;
  while (feed.childElementCount > KEPT) {
    const child = from === "before" ? feed.firstElementChild : feed.lastElementChild;
    const height = from === "before" ? (child?.getBoundingClientRect().height ?? 0) : 0;
    child?.remove();
    if (height > 0) {
      window.scrollBy(0, -height);
    }
    removed = true;
  }
  return removed;
}

function edges(): void {
  const top = window.scrollY;
  const below = document.documentElement.scrollHeight - top - window.innerHeight;
  latest.hidden = atEnd && below < window.innerHeight * 2;
  if (asked !== undefined) {
    return;
  }
  if (!atStart && top < NEAR_PX) {
    ask("before", feed.firstElementChild);
  } else if (!atEnd && below < NEAR_PX) {
    ask("after", feed.lastElementChild);
  }
}

function ask(direction: "before" | "after", edge: Element | null): void {
  const from = edge instanceof HTMLElement ? edge.dataset["id"] : undefined;
  if (from !== undefined) {
    asked = direction;
    host.postMessage({ type: "more", direction, from });
  }
}

function nearBottom(): boolean {
  return document.documentElement.scrollHeight - window.scrollY - window.innerHeight < 120;
}

function draw(block: Block): HTMLElement {
  const article = make("article", { class: `block ${block.kind}`, tabindex: "-1", "data-id": block.id, "aria-setsize": String(entryCount || -1) });
  const stamp = time(block.time);
  switch (block.kind) {
    case "compaction":
    case "branch":
      article.append(divider(block, stamp));
      break;
    case "setting":
      article.append(make("p", {}, block.text));
      break;
    case "result": {
      article.dataset["call"] = block.callId;
      article.dataset["gist"] = block.gist;
      article.classList.toggle("failed", block.failed);
      const details = make("details", { class: "result" });
      details.append(
        make("summary", {}, make("span", { class: "tool" }, block.tool), make("span", { class: "gist" }, block.gist)),
        ...(block.text.text === "" ? [] : [longText(block.id, "result", block.text, "pre")]),
        ...block.images.map((part) => drawPart(block.id, part)),
      );
      article.append(details);
      break;
    }
    default: {
      const head = make("div", { class: "head" }, make("span", { class: "who" }, block.who));
      if (block.label !== undefined) {
        head.append(make("span", { class: "label" }, block.label));
      }
      head.append(make("time", {}, stamp), actions(block.id));
      if (block.kind !== "assistant" || block.parts.some((part) => part.kind === "text") || block.parts.length === 0) {
        article.append(head);
      } else {
        article.classList.add("toolsonly");
      }
      article.append(...block.parts.map((part) => drawPart(block.id, part)));
      if (block.error !== undefined) {
        article.append(make("p", { class: "error" }, block.error));
      }
    }
  }
  return article;
}

function actions(id: string): HTMLElement {
  const bar = make("span", { class: "actions" });
  const add = (title: string, command: Extract<FromPage, { type: "command" }>["command"], text: string, writes: boolean): void => {
    const button = make("button", { title, "aria-label": title, class: writes ? "writes" : "" }, text);
    button.addEventListener("click", () => host.postMessage({ type: "command", command, id }));
    bar.append(button);
  };
  add("Continue the session from here", "goHere", "Go here", true);
  add("Put a label on it", "label", "Label", true);
  add("Start a new session with the path up to here", "fork", "Fork", true);
  add("Copy its id", "copyId", "Copy id", false);
  return bar;
}

function drawPart(id: string, part: Part): HTMLElement {
  switch (part.kind) {
    case "text":
      return longText(id, `text:${part.at}`, part.text, "div");
    case "thinking": {
      const details = make("details", { class: "thinking" }, make("summary", {}, "Reasoning"));
      details.append(longText(id, `text:${part.at}`, part.text, "div"));
      return details;
    }
    case "call": {
      const details = make("details", { class: "call", "data-call": part.callId });
      details.append(
        make("summary", {}, make("span", { class: "tool" }, part.tool), make("span", { class: "gist" }, part.gist)),
        longText(id, `args:${part.at}`, part.args, "pre"),
      );
      return details;
    }
    case "image": {
      const box = make("div", { class: "picture", "data-owner": id, "data-at": String(part.at) }, "Picture");
      sight.observe(box);
      return box;
    }
    case "note":
      return make("p", { class: "note" }, part.text);
  }
}

function longText(id: string, part: string, cut: Cut, tag: "pre" | "div"): HTMLElement {
  const box = make("div", { class: "long", "data-owner": id, "data-part": part });
  fill(box, cut.text, tag);
  const hidden = cut.full - cut.text.length;
  if (hidden > 0) {
    const more = make("button", { class: "more" }, `Show all (${hidden.toLocaleString("en")} more characters)`);
    more.addEventListener("click", () => host.postMessage({ type: "detail", id, part }));
    box.append(more);
  }
  return box;
}

function show(id: string, part: string, text: string): void {
  for (const box of feed.querySelectorAll<HTMLElement>(`.long[data-owner="${CSS.escape(id)}"]`)) {
    if (box.dataset["part"] === part) {
      fill(box, text, part.startsWith("text") ? "div" : "pre");
    }
  }
}

/** Pictures are fetched when they come into sight. */
const sight = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) {
    if (isIntersecting && target instanceof HTMLElement) {
      sight.unobserve(target);
      host.postMessage({ type: "picture", id: target.dataset["owner"] ?? "", at: Number(target.dataset["at"]) });
    }
  }
});

function showPicture(id: string, at: number, src: string): void {
  for (const box of feed.querySelectorAll<HTMLElement>(`.picture[data-owner="${CSS.escape(id)}"]`)) {
    if (box.dataset["at"] === String(at)) {
      box.replaceChildren(src === "" ? "This picture is gone" : make("img", { src, alt: "Picture in the conversation" }));
    }
  }
}

function fill(box: HTMLElement, text: string, tag: "pre" | "div"): void {
  box.replaceChildren(tag === "pre" ? make("pre", {}, text) : prose(text));
}

function prose(text: string): HTMLElement {
  const box = make("div", { class: "prose" });
  for (const piece of markup(text)) {
    switch (piece.kind) {
      case "code":
        box.append(make("pre", piece.language === "" ? {} : { "data-language": piece.language }, piece.text));
        break;
      case "heading":
        box.append(make("p", { class: `heading h${piece.level}` }, ...spans(piece.spans)));
        break;
      case "item":
        box.append(make("p", { class: `item d${piece.depth}` }, make("span", { class: "marker" }, piece.marker), make("span", {}, ...spans(piece.spans))));
        break;
      case "rule":
        box.append(make("hr", {}));
        break;
      case "quote":
        box.append(make("blockquote", {}, ...spans(piece.spans)));
        break;
      case "text":
        box.append(make("p", {}, ...spans(piece.spans)));
        break;
    }
  }
  return box;
}

function spans(list: readonly Span[]): (Node | string)[] {
  return list.map(({ text, style }) => (style === undefined ? text : make(style === "code" ? "code" : "strong", {}, text)));
}

function divider(block: Extract<Block, { kind: "compaction" | "branch" }>, stamp: string): HTMLElement {
  const box = make("div", {});
  const facts =
    block.kind === "branch"
      ? ["Summary of the branch that was left"]
      : [
          "Compacted",
          block.tokensBefore > 0 ? `${Math.round(block.tokensBefore).toLocaleString("en")} tokens before` : "",
          block.frames > 0 ? `${block.frames} ${block.frames === 1 ? "frame" : "frames"}` : "",
        ];
  const button = make(
    "button",
    { class: "divider", "aria-expanded": "false", title: block.kind === "compaction" && block.short !== "" ? block.short : "Show the summary" },
    make("span", { class: "rule" }),
    make("span", { class: "facts" }, [...facts, stamp].filter((fact) => fact !== "").join(" · ")),
    make("span", { class: "rule" }),
  );
  const body = make("div", { class: "summary", hidden: "" });
  button.addEventListener("click", () => {
    const open = button.getAttribute("aria-expanded") !== "true";
    button.setAttribute("aria-expanded", String(open));
    body.hidden = !open;
    if (open && body.childElementCount === 0) {
      if (block.kind === "compaction" && block.short !== "") {
        body.append(make("p", { class: "short" }, block.short));
      }
      if (block.kind === "compaction" && block.frames > 0) {
        body.append(make("div", { class: "frames", "aria-busy": "true" }, make("p", { class: "note" }, "Fetching the pictures…")));
        host.postMessage({ type: "frames", id: block.id });
      }
      body.append(...clamped(block.summary));
      const bar = make("div", { class: "foot" });
      for (const [title, command] of [["Go here", "goHere"], ["Copy id", "copyId"]] as const) {
        const action = make("button", { class: command === "goHere" ? "writes" : "" }, title);
        action.addEventListener("click", () => host.postMessage({ type: "command", command, id: block.id }));
        bar.append(action);
      }
      body.append(bar);
    }
  });
  box.append(button, body);
  return box;
}

/** A summary, of which a very long one shows its beginning first. */
function clamped(text: string): HTMLElement[] {
  const box = prose(text);
  if (text.length <= LONG) {
    return [box];
  }
  box.classList.add("clamped");
  const more = make("button", { class: "more" }, "Show the whole summary");
  more.addEventListener("click", () => {
    box.classList.remove("clamped");
    more.remove();
  });
  return [box, more];
}

function showFrames(id: string, images: readonly string[], note: string): void {
  const box = find(id)?.querySelector<HTMLElement>(".frames");
  if (box === null || box === undefined) {
    return;
  }
  box.setAttribute("aria-busy", "false");
  box.replaceChildren(
    ...images.map((src, index) => {
      const title = `Frame ${index + 1} of ${images.length}`;
      const button = make("button", { class: "frame", title: `${title}: click to enlarge`, "aria-label": title });
      button.append(make("img", { src, alt: title, loading: "lazy" }), make("span", {}, String(index + 1)));
      button.addEventListener("click", () => button.classList.toggle("large"));
      return button;
    }),
    ...(note === "" ? [] : [make("p", { class: "note" }, note)]),
  );
}

function key(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) {
    return;
  }
  const here = document.activeElement?.closest<HTMLElement>("article") ?? null;
  const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
  if (step !== undefined) {
    const next = neighbour(here, step);
    if (next !== null) {
      event.preventDefault();
      focus(next);
      next.scrollIntoView({ block: "nearest" });
    }
  } else if (event.key === "/" ) {
    event.preventDefault();
    host.postMessage({ type: "command", command: "search", id: "" });
  } else if (event.key === "End" || event.key === "G") {
    event.preventDefault();
    if (atEnd) {
      window.scrollTo(0, document.documentElement.scrollHeight);
    } else {
      host.postMessage({ type: "latest" });
    }
  } else if ((event.key === "Enter" || event.key === " ") && here !== null && document.activeElement === here) {
    event.preventDefault();
    unfold(here);
  }
}

function neighbour(here: HTMLElement | null, step: number): HTMLElement | null {
  if (here === null) {
    return visibleArticle();
  }
  let next: Element | null = here;
  do {
    next = step > 0 ? next.nextElementSibling : next.previousElementSibling;
  } while (next !== null && next.classList.contains("adopted"));
  return next instanceof HTMLElement ? next : null;
}

function visibleArticle(): HTMLElement | null {
  for (const article of feed.querySelectorAll<HTMLElement>("article:not(.adopted)")) {
    if (article.getBoundingClientRect().bottom > 60) {
      return article;
    }
  }
  return null;
}

function focus(article: HTMLElement): void {
  feed.querySelector("article[tabindex='0']")?.setAttribute("tabindex", "-1");
  article.setAttribute("tabindex", "0");
  article.focus({ preventScroll: true });
}

function unfold(article: HTMLElement, open?: boolean): void {
  const button = article.querySelector<HTMLElement>(".divider");
  if (button !== null) {
    if (open === undefined || (button.getAttribute("aria-expanded") === "true") !== open) {
      button.click();
    }
    return;
  }
  const all = [...article.querySelectorAll("details")];
  const target = open ?? !all.some((details) => details.open);
  for (const details of all) {
    details.open = target;
  }
}

function time(iso: string): string {
  const date = new Date(iso);
  return Number.isNaN(date.getTime())
    ? ""
    : date.toLocaleString([], { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
}

function find(id: string): HTMLElement | null {
  return feed.querySelector<HTMLElement>(`:scope > article[data-id="${CSS.escape(id)}"]`);
}

function make(tag: string, attributes: Readonly<Record<string, string>>, ...content: (Node | string)[]): HTMLElement {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, value);
  }
  element.append(...content);
  return element;
}

function need(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) {
    throw new Error(`the page has no #${id}`);
  }
  return element;
}

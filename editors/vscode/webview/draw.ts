/** Draws the blocks of a transcript, and fills in what comes later: whole texts, pictures, frames. */

import type { Block, Cut, Part } from "../src/transcript/blocks.ts";
import { markup, type Span } from "../src/transcript/markup.ts";
import type { FromPage } from "../src/transcript/messages.ts";
import { make, need } from "./dom.ts";

declare function acquireVsCodeApi(): { postMessage(message: FromPage): void };

/** The extension. */
export const host = acquireVsCodeApi();

/** UTF-16 units of a summary that is shown whole at once. */
const LONG = 8_000;

const feed = need("feed");

/** Draw a block. */
export function draw(block: Block, entryCount: number): HTMLElement {
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

/** Show a text whole. */
export function show(id: string, part: string, text: string): void {
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

/** Show a picture that has come. */
export function showPicture(id: string, at: number, src: string): void {
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

/** Show the frames of a compaction. */
export function showFrames(id: string, images: readonly string[], note: string): void {
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

function time(iso: string): string {
  const date = new Date(iso);
  return Number.isNaN(date.getTime())
    ? ""
    : date.toLocaleString([], { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
}

/** The block of an entry. */
export function find(id: string): HTMLElement | null {
  return feed.querySelector<HTMLElement>(`:scope > article[data-id="${CSS.escape(id)}"]`);
}

/**
 * The transcript's page: puts blocks in order, asks for more at the edges, keeps a bounded number of them, and hears keys.
 */

import type { ToPage } from "../src/transcript/messages.ts";
import { make, need } from "./dom.ts";
import { draw, find, host, show, showFrames, showPicture } from "./draw.ts";

/** Most blocks in the page; what is beyond goes from the far end and is asked for again when needed. */
const KEPT = 400;
const NEAR_PX = 900;

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
          const fresh = draw(block, entryCount);
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
  const drawn = page.blocks.map((block) => draw(block, entryCount));
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

/** What the transcript's page and the extension tell each other. */

import type { Block } from "./blocks.ts";

/** To the page. */
export type ToPage =
  | { type: "session"; title: string; subtitle: string; writable: boolean; total: number }
  | { type: "page"; place: "replace" | "before" | "after"; blocks: Block[]; atStart: boolean; atEnd: boolean; focus?: string }
  | { type: "update"; blocks: Block[] }
  | { type: "detail"; id: string; part: string; text: string }
  | { type: "picture"; id: string; at: number; src: string }
  | { type: "frames"; id: string; images: string[]; note: string }
  | { type: "reveal"; id: string; open: boolean }
  | { type: "running"; text: string | undefined }
  | { type: "trouble"; text: string };

/** From the page. */
export type FromPage =
  | { type: "ready" }
  | { type: "more"; direction: "before" | "after"; from: string }
  | { type: "latest" }
  | { type: "detail"; id: string; part: string }
  | { type: "picture"; id: string; at: number }
  | { type: "frames"; id: string }
  | { type: "command"; command: "goHere" | "goHereSummary" | "label" | "fork" | "copyId" | "undo" | "abort" | "search"; id: string };

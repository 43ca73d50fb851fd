/** The little Markdown a transcript needs, as plain data: headings, lists, fences, quotes, inline code, bold. Pure. */

/** A run of text. */
export interface Span {
  text: string;
  style?: "code" | "bold";
}

/** A paragraph-like part. */
export type Piece =
  | { kind: "text" | "quote"; spans: Span[] }
  | { kind: "heading"; level: number; spans: Span[] }
  | { kind: "item"; depth: number; marker: string; spans: Span[] }
  | { kind: "code"; language: string; text: string }
  | { kind: "rule" };

/** Read a text. Everything that is not understood stays as it is written. */
export function markup(text: string): Piece[] {
  const pieces: Piece[] = [];
  let paragraph: string[] = [];
  const flush = (): void => {
    if (paragraph.length > 0) {
      pieces.push({ kind: "text", spans: inline(paragraph.join("\n")) });
      paragraph = [];
    }
  };
  const lines = text.split("\n");
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? "";
    const fence = /^\s*(```+|~~~+)\s*([\w+#.-]*)/.exec(line);
    if (fence !== null) {
      flush();
      const mark = fence[1] ?? "```";
      const code: string[] = [];
      while (++i < lines.length && !(lines[i] ?? "").trimStart().startsWith(mark)) {
        code.push(lines[i] ?? "");
      }
      pieces.push({ kind: "code", language: fence[2] ?? "", text: code.join("\n") });
      continue;
    }
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    const item = /^(\s*)([-*+]|\d{1,3}[.)])\s+(.*)$/.exec(line);
    const quote = /^>\s?(.*)$/.exec(line);
    if (heading !== null) {
      flush();
      pieces.push({ kind: "heading", level: (heading[1] ?? "#").length, spans: inline(heading[2] ?? "") });
    } else if (item !== null) {
      flush();
      const marker = item[2] ?? "-";
      const task = /^\[([ xX])\]\s+(.*)$/.exec(item[3] ?? "");
      const depth = Math.min(6, Math.floor((item[1] ?? "").replace(/\t/g, "  ").length / 2));
      pieces.push({ kind: "item", depth, marker: task !== null ? (task[1] === " " ? "☐" : "☑") : /^\d/.test(marker) ? marker : "•", spans: inline(task?.[2] ?? item[3] ?? "") });
    } else if (quote !== null) {
      flush();
      pieces.push({ kind: "quote", spans: inline(quote[1] ?? "") });
    } else if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) {
      flush();
      pieces.push({ kind: "rule" });
    } else if (line.trim() === "") {
      flush();
    } else {
      paragraph.push(line);
    }
  }
  flush();
  return pieces;
}

/** Inline code and bold. */
export function inline(text: string): Span[] {
  const spans: Span[] = [];
  let at = 0;
  for (const match of text.matchAll(/`([^`\n]{1,500})`|\*\*([^*\n]{1,500})\*\*/g)) {
    if (match.index > at) {
      spans.push({ text: text.slice(at, match.index) });
    }
    spans.push(match[1] !== undefined ? { text: match[1], style: "code" } : { text: match[2] ?? "", style: "bold" });
    at = match.index + match[0].length;
  }
  if (at < text.length) {
    spans.push({ text: text.slice(at) });
  }
  return spans;
}

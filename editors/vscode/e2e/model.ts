/** A model behind HTTP on this machine that writes slowly or quickly, as the story wants. */

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

const SUMMARY = `## Goal
Keep the harbour office's software right: berths, tides, pilots, buoys and the ferry timetable.

## Constraints & Preferences
- Column names are the pilots' own words; old names stay for exports.

## Progress
### Done
- [x] Sunday reports (\`weekday <= 6\`), with a test
- [x] Ferry timetable from 4 s to 40 ms: the join is on the berth alone
- [x] \`round_draught\` is the only place that rounds

### In Progress
- [ ] Crane bookings have not been measured

### Blocked
(none)

## Key Decisions
- **Buoys stay in the database**: a spreadsheet would hold eighty positions twice.

## Next Steps
1. Ask the pilots about the column names.
2. Measure the crane bookings.

## Critical Context
- 214 tests pass with \`make test\`.`;

const SHORT = "The harbour software was mended in many small steps: Sunday reports, a fast ferry timetable, one way to round draughts. The pilots' column names and the crane bookings are left.";

/** The running model. */
export class Model {
  /** Milliseconds between two pieces of an answer. */
  paceMs = 2;
  requests = 0;
  private readonly server: Server;

  private constructor(server: Server) {
    this.server = server;
  }

  static async start(): Promise<Model> {
    const model: Model = new Model(
      createServer((request, response) => {
        const chunks: Buffer[] = [];
        request.on("data", (chunk: Buffer) => chunks.push(chunk));
        request.on("end", () => void model.answer(Buffer.concat(chunks).toString(), response));
      }),
    );
    await new Promise<void>((resolve) => model.server.listen(0, "127.0.0.1", resolve));
    return model;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async answer(body: string, response: import("node:http").ServerResponse): Promise<void> {
    this.requests += 1;
    const long = /## |summar/i.test(body) && !/two or three sentences|2-3 sentences|short/i.test(body.slice(-1_500));
    const text = long ? SUMMARY : SHORT;
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (event: unknown): boolean => response.write(`data: ${JSON.stringify(event)}\n\n`);
    for (let at = 0; at < text.length && !response.destroyed; at += 24) {
      send({ choices: [{ index: 0, delta: { content: text.slice(at, at + 24) } }] });
      await new Promise((resolve) => setTimeout(resolve, this.paceMs));
    }
    send({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
    send({ choices: [], usage: { prompt_tokens: 60_000, completion_tokens: 300 } });
    response.end("data: [DONE]\n\n");
  }
}

// Write the golden wire files as TypeScript, so that the compiler checks every one of them against the generated types.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const golden = new URL("../../../tests/wire/golden/", import.meta.url);
const target = new URL("../test/golden.generated.ts", import.meta.url);

const read = (folder) =>
  readdirSync(new URL(`${folder}/`, golden))
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => [name, JSON.parse(readFileSync(new URL(`${folder}/${name}`, golden), "utf8"))]);
const typed = (value, type) => `${JSON.stringify(value)} satisfies ${type}`;
const list = (name, kind, rows) => `export const ${name}: readonly ${kind}[] = [\n${rows.join("")}];\n`;

const requests = read("requests").map(([, { direction, request, response }]) => {
  const table = direction === "clientToDaemon" ? "Requests" : "ServerRequests";
  const type = `${table}[${JSON.stringify(request.method)}]`;
  const [params, result] = [typed(request.params, `${type}["params"]`), typed(response.result, `${type}["result"]`)];
  return `  { method: ${JSON.stringify(request.method)}, direction: "${direction}", params: ${params}, result: ${result} },\n`;
});
const notifications = read("notifications").map(([, { direction, notification }]) => {
  const table = direction === "clientToDaemon" ? "ClientNotifications" : "ServerNotifications";
  const name = JSON.stringify(notification.method);
  return `  { method: ${name}, direction: "${direction}", params: ${typed(notification.params, `${table}[${name}]`)} },\n`;
});
const errors = read("errors").map(([, { request, response }]) => {
  const { code, message, data } = response.error;
  const asked = `method: ${JSON.stringify(request?.method ?? null)}, params: ${JSON.stringify(request?.params ?? null)}`;
  return `  { ${asked}, code: ${code}, message: ${JSON.stringify(message)}, data: ${typed(data, "ErrorData")} },\n`;
});

writeFileSync(
  target,
  `// Written by scripts/golden.mjs from tests/wire/golden.
import type {
  ClientNotifications,
  ErrorData,
  Requests,
  ServerNotifications,
  ServerRequests,
} from "../src/index.js";

type Direction = "clientToDaemon" | "daemonToClient";
${list("requests", "{ method: string; direction: Direction; params: object; result: unknown }", requests)}
${list("notifications", "{ method: string; direction: Direction; params: object }", notifications)}
${list("errors", "{ method: string | null; params: unknown; code: number; message: string; data: ErrorData }", errors)}`,
);
process.stdout.write(
  `${fileURLToPath(target)}: ${requests.length} requests, ${notifications.length} notifications, ${errors.length} errors\n`,
);

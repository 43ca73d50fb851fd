// Bundles the extension and the transcript's page; `--watch` keeps at it.
import { context } from "esbuild";

const shared = { bundle: true, logLevel: "warning", minify: true, sourcemap: false, target: "es2022", legalComments: "none" };
const builds = [
  { ...shared, entryPoints: ["src/extension.ts"], outfile: "dist/extension.cjs", platform: "node", format: "cjs", external: ["vscode"] },
  { ...shared, entryPoints: ["webview/transcript.ts"], outfile: "dist/transcript.js", platform: "browser", format: "iife" },
  { ...shared, entryPoints: ["webview/transcript.css"], outfile: "dist/transcript.css" },
];

for (const build of await Promise.all(builds.map((options) => context(options)))) {
  if (process.argv.includes("--watch")) {
    await build.watch();
  } else {
    await build.rebuild();
    await build.dispose();
  }
}

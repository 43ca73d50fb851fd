/**
 * Finds the program that starts the octavo server: the setting, else the PATH, else `uvx`. Starts nothing.
 */

import { delimiter, isAbsolute, join } from "node:path";

/** What the user chose. */
export interface Choice {
  /** `octavo.server.path`; empty means to look for it. */
  path: string;
  /** `octavo.server.args`. */
  args: readonly string[];
}

/** Where to look. */
export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  platform: NodeJS.Platform;
  home: string;
  isExecutable: (path: string) => boolean;
}

/** How to start the server. */
export interface Launch {
  command: string;
  args: string[];
  source: "setting" | "path" | "uvx";
}

/** Return how to start the server, or undefined when neither it nor `uvx` is on this machine. */
export function discover(choice: Choice, around: Surroundings): Launch | undefined {
  const args = [...choice.args];
  const chosen = expandHome(choice.path.trim(), around.home);
  if (chosen !== "") {
    const command = isAbsolute(chosen) || chosen.includes("/") ? existing(chosen, around) : onPath(chosen, around);
    return command === undefined ? undefined : { command, args, source: "setting" };
  }
  const octavo = onPath("octavo", around);
  if (octavo !== undefined) {
    return { command: octavo, args, source: "path" };
  }
  const uvx = onPath("uvx", around);
  return uvx === undefined ? undefined : { command: uvx, args: ["octavo", ...args], source: "uvx" };
}

/** Folders where installers put programs that an editor started from a desktop does not have on its PATH. */
function usualFolders(around: Surroundings): string[] {
  return around.platform === "win32" ? [] : [join(around.home, ".local", "bin"), join(around.home, ".cargo", "bin")];
}

function onPath(name: string, around: Surroundings): string | undefined {
  const path = around.env["PATH"] ?? around.env["Path"] ?? "";
  const folders = [...path.split(delimiter).filter((folder) => isAbsolute(folder)), ...usualFolders(around)];
  for (const folder of folders) {
    const found = existing(join(folder, name), around);
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}

function existing(path: string, around: Surroundings): string | undefined {
  const endings = around.platform === "win32" && !/\.(exe|cmd|bat)$/i.test(path) ? [".exe", ".cmd"] : [""];
  return endings.map((ending) => path + ending).find((candidate) => around.isExecutable(candidate));
}

function expandHome(path: string, home: string): string {
  return path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : path;
}

/** The program when started by a Node other than the pinned one. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, realpathSync } from "node:fs";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";

const BIN = join(import.meta.dirname, "../../bin");
const PROGRAM = join(BIN, "sluice.js");
const MODULE = join(BIN, "pinned-node.js");
const run = promisify(execFile);
const {
  chooseNode,
}: { chooseNode: (version: string, findPinned: () => string | null) => string | null } =
  await import(MODULE);

/** Makes this Node report another version. */
const pretend = (version: string): readonly string[] => {
  const script = `Object.defineProperty(process.versions, "node", { value: "${version}" })`;
  return ["--import", `data:text/javascript,${encodeURIComponent(script)}`];
};

/** Every Node on `PATH` other than the one that runs this test. */
const OTHERS = (process.env.PATH ?? "")
  .split(delimiter)
  .map((folder) => join(folder, "node"))
  .filter((path) => existsSync(path))
  .map((path) => realpathSync(path))
  .filter(
    (path, index, all) => path !== realpathSync(process.execPath) && all.indexOf(path) === index,
  );

describe("the choice of Node", () => {
  const none = () => null;
  const pinned = () => "/pinned/node";

  test("is the running Node when it has the pinned major version", () => {
    expect(chooseNode("24.0.1", pinned)).toBeNull();
    expect(chooseNode("24.99.0", none)).toBeNull();
  });

  test("is the pinned Node under an older and under a newer one", () => {
    expect(chooseNode("20.20.2", pinned)).toBe("/pinned/node");
    expect(chooseNode("25.0.0", pinned)).toBe("/pinned/node");
  });

  test("without a pinned Node is the newer one, and an error under an older one", () => {
    expect(chooseNode("25.0.0", none)).toBeNull();
    expect(() => chooseNode("20.20.2", none)).toThrow(
      /^sluice needs Node 24, this is 20\.20\.2, and the pinned Node is not installed\. Run `npm install`/,
    );
  });
});

describe("the program under another Node", () => {
  const nodes: {
    readonly title: string;
    readonly node: string;
    readonly options: readonly string[];
  }[] = [
    { title: "one that calls itself 20", node: process.execPath, options: pretend("20.20.2") },
    { title: "one that calls itself 25", node: process.execPath, options: pretend("25.0.0") },
    ...OTHERS.map((node) => ({ title: node, node, options: [] })),
  ];

  test.each(nodes)("runs a command with the pinned Node: $title", async ({ node, options }) => {
    const { stdout } = await run(node, [...options, PROGRAM, "version", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ node: process.versions.node });
    await expect(run(node, [...options, PROGRAM, "no-such-command"])).rejects.toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(/^unknown command 'no-such-command'; expected serve, .*\n$/),
    });
  });

  test.each(["SIGTERM", "SIGINT"] as const)(
    "forwards %s to the command, and returns its exit code",
    async (signal) => {
      const command = `process.on("${signal}", () => process.exit(7)); console.log("ready"); setInterval(() => {}, 1000)`;
      const child = startInstead(command);
      await once(createInterface({ input: child.stdout }), "line");
      child.kill(signal);
      expect(await once(child, "exit")).toEqual([7, null]);
    },
  );

  test("ends with the signal that ended the command", async () => {
    const child = startInstead(`process.kill(process.pid, "SIGTERM"); setInterval(() => {}, 1000)`);
    expect(await once(child, "exit")).toEqual([null, "SIGTERM"]);
  });
});

function startInstead(command: string) {
  const args = JSON.stringify(["--eval", command]);
  const script = `import { runInstead } from ${JSON.stringify(MODULE)}; runInstead(process.execPath, ${args})`;
  return spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

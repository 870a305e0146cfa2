import { describe, expect, test } from "vitest";
import { DEFAULT_STATE_DIR, parseCommandLine } from "./command-line.ts";
import { SandboxError } from "./errors.ts";

describe("parseCommandLine", () => {
  test("without arguments uses the default state directory and ports", () => {
    expect(parseCommandLine([])).toEqual({
      kind: "run",
      exitAfterDemo: false,
      options: { stateDir: DEFAULT_STATE_DIR, fresh: false, ports: {} },
    });
  });

  test("accepts every option", () => {
    const args = "--fresh --state-dir /tmp/x --port 1 --quote-port 2 --ethereum-port 3".split(" ");
    const rest =
      "--telemetry-port 4 --console-port 7 --control-port 6 --base-port 0 --solana-port 5 --anvil /bin/anvil --exit-after-demo".split(
        " ",
      );
    expect(parseCommandLine([...args, ...rest])).toEqual({
      kind: "run",
      exitAfterDemo: true,
      options: {
        stateDir: "/tmp/x",
        fresh: true,
        anvil: "/bin/anvil",
        ports: {
          api: 1,
          quote: 2,
          telemetry: 4,
          console: 7,
          control: 6,
          ethereum: 3,
          base: 0,
          solana: 5,
        },
      },
    });
  });

  test.each([
    [["--port", "x"], "--port x: expected a port from 0 to 65535"],
    [["--base-port", "65536"], "--base-port 65536: expected a port from 0 to 65535"],
    [["--frsh"], "Unknown option '--frsh': run npm start -- --help"],
  ])("rejects %j with a one-line error", (args, message) => {
    expect(() => parseCommandLine(args)).toThrow(new SandboxError(message));
  });
});

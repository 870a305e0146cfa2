/** Reads a passphrase from the terminal without echo. */
import { OperatingError } from "../core/errors.ts";
import { Secret } from "../core/secret.ts";

const ENTER = new Set(["\r", "\n", "\u0004"]);
const ERASE = new Set(["\u007f", "\b"]);
const INTERRUPT = "\u0003";

/** Asks on standard error. Throws CONFIG_MISSING without a terminal. */
export async function askPassphrase(question = "Passphrase of the keystores: "): Promise<Secret> {
  const { stdin, stderr } = process;
  if (!stdin.isTTY) {
    throw new OperatingError(
      "CONFIG_MISSING",
      'keystorePassphrase: expected { "file": PATH } or { "env": NAME }, or a terminal to ask at',
    );
  }
  stderr.write(question);
  stdin.ref();
  stdin.setRawMode(true);
  stdin.setEncoding("utf8");
  try {
    let typed = "";
    for await (const chunk of stdin.iterator({ destroyOnReturn: false })) {
      for (const character of String(chunk)) {
        if (character === INTERRUPT) throw new OperatingError("CONFIG_MISSING", "Interrupted.");
        if (ENTER.has(character)) return new Secret(typed);
        typed = ERASE.has(character) ? typed.slice(0, -1) : typed + character;
      }
    }
    return new Secret(typed);
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
    // Lets the process exit after the answer.
    stdin.unref();
    stderr.write("\n");
  }
}

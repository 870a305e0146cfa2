/** Plays a scenario on a sandbox of another process, by its control endpoint. */
import type { Descriptor } from "../descriptor.ts";
import { SandboxError } from "../errors.ts";
import { asRecord } from "../json-file.ts";
import type { PlayOptions, PlayResult } from "./play.ts";
import type { ScenarioName } from "./table.ts";

/**
 * Plays a scenario on the running sandbox of a descriptor.
 * @throws SandboxError if its events were not those that are documented.
 */
export async function playRemote(
  { controlUrl }: Pick<Descriptor, "controlUrl">,
  name: ScenarioName,
  { depositAddress, timeoutMs, signal, onStep }: PlayOptions = {},
): Promise<PlayResult> {
  const response = await fetch(`${controlUrl}/play/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ depositAddress, timeoutMs }),
    ...(signal && { signal }),
  });
  if (!response.body || !response.ok) {
    const { error } = asRecord(await response.json()) ?? {};
    throw new SandboxError(String(asRecord(error)?.["message"]));
  }
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of response.body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const { step, text, result, error } = asRecord(JSON.parse(line)) ?? {};
      if (error !== undefined) throw new SandboxError(String(asRecord(error)?.["message"]));
      // CAST: the control endpoint writes what `Player` returns.
      if (result !== undefined) return result as PlayResult;
      onStep?.(String(step), String(text));
    }
  }
  throw new SandboxError("the sandbox has stopped");
}

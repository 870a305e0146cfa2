/** A provider in a process of its own, so that its processor time is apart from the measured program's. */
import { SandboxError } from "../errors.ts";
import { type Child, spawnMain } from "./child.ts";
import type { ProviderOptions, ProviderOverrides } from "./settings.ts";
import type { ProviderStats } from "./stats.ts";

/** A provider in another process. */
export interface RemoteProvider extends Child {
  stats(): Promise<ProviderStats>;
  resetStats(): Promise<void>;
  /** Changes settings from the next request on, as `set` of a provider in this process does. */
  set(overrides: ProviderOverrides): Promise<void>;
}

/** Starts a provider in its own process and waits until it answers. */
export async function spawnProvider(options: ProviderOptions): Promise<RemoteProvider> {
  const child = await spawnMain(new URL("./main.ts", import.meta.url), options);
  const send = async (path: string, request: RequestInit): Promise<string> => {
    const response = await fetch(`${child.url}${path}`, request);
    const text = await response.text();
    if (!response.ok) throw new SandboxError(text);
    return text;
  };
  return {
    ...child,
    stats: async () => JSON.parse(await send("/stats", {})),
    resetStats: async () => void (await send("/stats", { method: "DELETE" })),
    set: async (overrides) =>
      void (await send("/settings", { method: "POST", body: JSON.stringify(overrides) })),
  };
}

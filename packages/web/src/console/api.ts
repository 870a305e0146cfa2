/** Reads of the interface with the viewer's API key, which this tab keeps until it is closed. */
import type { ErrorResponse } from "@sluice/sdk/wire";

const KEPT_AS = "sluice.api-key";

/** The interface refused a request, or did not answer. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Reads with one key. */
export interface Api {
  /** Returns a parsed answer. @throws Refusal, also without a connection (status 0). */
  read<Body>(path: string, query?: Readonly<Record<string, string>>): Promise<Body>;
  /** Returns the bytes of an answer, such as an export. @throws Refusal as `read`. */
  download(path: string): Promise<Blob>;
}

/** Returns the key that this tab keeps; null without one. */
export function keptKey(): string | null {
  return sessionStorage.getItem(KEPT_AS);
}

/** Keeps a key in this tab; null forgets it. */
export function keepKey(key: string | null): void {
  if (key === null) sessionStorage.removeItem(KEPT_AS);
  else sessionStorage.setItem(KEPT_AS, key);
}

/** Returns the reads of a key. `base` ends with `/`. */
export function openApi(base: string, key: string): Api {
  async function ask(path: string): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(`${base}${path}`, { headers: { "x-api-key": key } });
    } catch {
      throw new Refusal(0, "The service cannot be reached.");
    }
    if (response.ok) return response;
    const body: Partial<ErrorResponse> | null = await response.json().catch(() => null);
    throw new Refusal(response.status, body?.error?.message ?? `Status ${response.status}`);
  }
  return {
    async read(path, query = {}) {
      const asked = new URLSearchParams(query).toString();
      return (await ask(asked === "" ? path : `${path}?${asked}`)).json();
    },
    download: async (path) => (await ask(path)).blob(),
  };
}

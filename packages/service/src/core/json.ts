/** Parses JSON of somebody else. Returns undefined for a text that is none: a schema then refuses it like any other. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

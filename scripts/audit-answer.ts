/** What `npm audit --json` says. */
const SEVERE: readonly string[] = ["high", "critical"];

/** Judges an answer: bad with a high or critical vulnerability. */
export function judgeAudit(answer: string): { readonly isBad: boolean; readonly text: string } {
  const parsed: unknown = parse(answer);
  const { vulnerabilities, message } = Object(parsed);
  if (typeof vulnerabilities !== "object" || vulnerabilities === null) {
    return { isBad: false, text: `dependencies not audited: ${message ?? "npm gave no answer"}` };
  }
  const found = Object.values(vulnerabilities).map((one) => {
    const { name, severity, range } = Object(one);
    return { severity: String(severity), text: `${severity}: ${name} ${range}` };
  });
  const severe = found.filter(({ severity }) => SEVERE.includes(severity));
  const lines = found.map(({ text }) => text);
  return {
    isBad: severe.length > 0,
    text: [`${found.length} vulnerable dependencies, ${severe.length} severe`, ...lines].join("\n"),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

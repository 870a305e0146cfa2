/** The nodes through which a chain is read, and how many of them must agree. */

/** URLs may carry credentials: they are never shown, and a node is named by its place in the list. */
export interface NodesConfig {
  readonly urls: readonly [string, ...string[]];
  /** Answers that must be alike: more than half of the nodes, whoever of them is away. */
  readonly quorum: number;
}

/** Takes one URL, or a list and what must agree of it: more than half unless given. */
export function nodesOf(
  given: { readonly urls: readonly string[]; readonly quorum: number | undefined },
  setting: { readonly urls: string; readonly quorum: string },
  problems: string[],
): NodesConfig {
  const [first, ...others] = given.urls;
  const count = given.urls.length;
  const majority = Math.floor(count / 2) + 1;
  const { quorum = majority } = given;
  const origins = given.urls.map(operatorOf);
  for (const [index, origin] of origins.entries()) {
    const at = count > 1 ? `${setting.urls}[${index}]` : setting.urls;
    if (origin === null) problems.push(`${at}: expected an http or https URL`);
    else if (origins.indexOf(origin) < index) {
      problems.push(`${at}: expected a host of its own, an earlier node of the list has it too`);
    }
  }
  if (quorum > count) {
    problems.push(`${setting.quorum}: expected at most ${count}, the number of nodes`);
  } else if (quorum < majority) {
    problems.push(`${setting.quorum}: expected at least ${majority}, more than half of the nodes`);
  }
  return { urls: [first ?? "", ...others], quorum };
}

/** Whoever runs a host decides what every URL of it answers: two keys at one provider are one voice. */
function operatorOf(url: string): string | null {
  return URL.parse(url)?.host || null;
}

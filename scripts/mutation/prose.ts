/**
 * Stryker plugin that excludes texts for people from mutation: log events and the messages of errors and assertions. All
 * other arguments of those calls are mutated.
 */
interface Node {
  readonly type: string;
  readonly name?: string;
  readonly callee?: Node;
  readonly object?: Node;
  readonly property?: Node;
  readonly arguments?: readonly Node[];
}

interface Path {
  readonly node: Node;
  readonly parentPath?: Path | null;
}

function isProse({ node, parentPath }: Path): boolean {
  const call = parentPath?.node;
  if (!/^(StringLiteral|TemplateLiteral)$/.test(node.type) || !call?.arguments) return false;
  const { callee } = call;
  // `assert(…)`, `log.warn(…)` or `deps.log.warn(…)`.
  const name = callee?.name ?? callee?.object?.name ?? callee?.object?.property?.name ?? "";
  const position = call.arguments.indexOf(node);
  if (/^(Operating)?Error$/.test(name))
    return position === call.arguments.length - 1 || position === 1;
  return (name === "log" || name === "assert") && position === 1;
}

export const strykerPlugins = [
  {
    kind: "Ignore",
    name: "prose",
    value: {
      shouldIgnore: (path: Path): string | undefined =>
        isProse(path) ? "text for people" : undefined,
    },
  },
];

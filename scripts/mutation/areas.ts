/** What mutation testing looks at: an area is some files and the tests that state their rules. Add yours here. */

export interface Area {
  readonly name: string;
  /** Paths in `packages/service/src`. */
  readonly files: readonly string[];
  /** Only these run; those that need nodes of their own, or a simulation, are too slow for it. */
  readonly tests: readonly string[];
  /** How long they may take beyond one and a half times what they usually take; 10 seconds unless given. */
  readonly patienceMs?: number;
}

/** On a busy machine tests with a database may be slow without being caught in a loop. */
const PATIENCE_WITH_DATABASE_MS = 30_000;

export const SOURCE = "packages/service/src";

export const AREAS: readonly Area[] = [
  {
    name: "lifecycle",
    files: ["settlements/lifecycle.ts", "settlements/retry.ts", "routes/swift/lifecycle.ts"],
    tests: [
      "settlements/lifecycle.test.ts",
      "settlements/retry.test.ts",
      "routes/swift/lifecycle.test.ts",
    ],
  },
  { name: "gate", files: ["deposits/gate.ts"], tests: ["deposits/gate.test.ts"] },
  {
    name: "lanes",
    files: ["transactions/plan.ts", "transactions/lane.ts"],
    tests: [
      "transactions/lane.test.ts",
      "transactions/lane-bounds.test.ts",
      "transactions/lane-log.test.ts",
    ],
    patienceMs: PATIENCE_WITH_DATABASE_MS,
  },
  {
    name: "quorum",
    files: ["chains/quorum.ts", "chains/ask-nodes.ts"],
    tests: ["chains/quorum.test.ts", "chains/ask-nodes.test.ts"],
  },
  {
    name: "cursors",
    files: ["events/store.ts", "core/stamp.ts", "api/stamp-input.ts"],
    tests: ["events/events.test.ts", "api/stamp-input.test.ts"],
  },
  {
    name: "derivation",
    files: ["addresses/issue.ts", "core/commitment.ts", "chains/evm/commitment.ts"],
    tests: ["addresses/issue.test.ts", "chains/evm/commitment.test.ts"],
  },
  {
    name: "ledger",
    files: ["ledger/audit.ts", "routes/swift/audit.ts", "ledger/breaches.ts", "ledger/accounts.ts"],
    tests: ["ledger/audit-bounds.test.ts"],
    patienceMs: PATIENCE_WITH_DATABASE_MS,
  },
];

/** A mutant that no test can tell from the code. */
export interface Equivalent {
  readonly file: string;
  /** The line that the change begins on, without its indentation. */
  readonly line: string;
  readonly mutator: string;
  readonly replacement: string;
  readonly why: string;
}

export const EQUIVALENTS: readonly Equivalent[] = [
  ...["claimed", "returned", "taken_back"].map((state) => ({
    file: "routes/swift/lifecycle.ts",
    line: `${state}: [],`,
    mutator: "ArrayDeclaration",
    replacement: '["Stryker was here"]',
    why: "no state has that name, and the compiler refuses it",
  })),
  {
    file: "deposits/gate.ts",
    line: 'if (token !== undefined && balance < token) return { kind: "ignore", reason: "below_token_min" };',
    mutator: "ConditionalExpression",
    replacement: "true",
    why: "no amount is less than undefined",
  },
  {
    file: "deposits/gate.ts",
    line: 'if (typeof floor === "bigint" && balance < floor) return { kind: "ignore", reason: "below_min" };',
    mutator: "ConditionalExpression",
    replacement: "true",
    why: "no amount is less than undefined, or than a word",
  },
  {
    file: "events/store.ts",
    line: "if (cursors.size === 0) return [];",
    mutator: "ConditionalExpression",
    replacement: "false",
    why: "spares a query that would answer nobody",
  },
  ...[
    'assert(transaction.nonce !== null, "an assigned transaction has its nonce");',
    'assert(transaction.nonce !== null, "only an assigned transaction is signed");',
    'assert(transaction.mined !== null, "a mined transaction names its block");',
  ].map((line) => ({
    file: "transactions/lane.ts",
    line,
    mutator: "ConditionalExpression",
    replacement: "true",
    why: "the table refuses such a row",
  })),
  ...[
    ["ArrayDeclaration", '["Stryker was here"]'],
    ["OptionalChaining", "queued[position].id"],
  ].map(([mutator = "", replacement = ""]) => ({
    file: "transactions/lane.ts",
    line: "const memberIds = batch.members.flatMap((position) => queued[position]?.id ?? []);",
    mutator,
    replacement,
    why: "the members are positions of what was given, and the compiler cannot know it",
  })),
  {
    file: "transactions/lane.ts",
    line: "if (nextNonce !== null && count > nextNonce) {",
    mutator: "ConditionalExpression",
    replacement: "true",
    why: "the lane was made known before, and the compiler cannot know it",
  },
  {
    file: "transactions/lane.ts",
    line: "limits.batchCostMax !== undefined && batch.gas * maxFeePerGas > limits.batchCostMax;",
    mutator: "ConditionalExpression",
    replacement: "true",
    why: "no cost is more than undefined",
  },
  {
    file: "transactions/lane.ts",
    line: "return attempt.sentAtMs === null || nowMs - attempt.sentAtMs >= limits.resendAfterMs;",
    mutator: "ConditionalExpression",
    replacement: "false",
    why: "what was never sent was not accepted either, which is asked before; and the time since null is long",
  },
  {
    file: "transactions/lane.ts",
    line: "await send(deps, transaction, { ...attempt, sentAtMs: null, accepted: false });",
    mutator: "BooleanLiteral",
    replacement: "true",
    why: "sending looks only at the bytes",
  },
  {
    file: "transactions/lane.ts",
    line: "return a > b ? a : b;",
    mutator: "EqualityOperator",
    replacement: "a >= b",
    why: "of two that are equal, each is the greater",
  },
  {
    file: "chains/quorum.ts",
    line: 'return outcome === "unknown" ? "nothing" : "counts";',
    mutator: "StringLiteral",
    replacement: '""',
    why: "whatever is neither enough nor counts is nothing",
  },
  {
    file: "chains/quorum.ts",
    line: "const reasons = new Set(same.flatMap((simulation) => (simulation.ok ? [] : simulation.reason)));",
    mutator: "ArrayDeclaration",
    replacement: '["Stryker was here"]',
    why: "those that agree all run or all revert, and reasons are read only of the latter",
  },
  {
    file: "chains/quorum.ts",
    line: 'const [reason = "reverted"] = reasons;',
    mutator: "StringLiteral",
    replacement: '""',
    why: "it is read only where there is one reason",
  },
  {
    file: "chains/quorum.ts",
    line: "return { ok: true, gas: gas.reduce((most, one) => (one > most ? one : most)) };",
    mutator: "EqualityOperator",
    replacement: "one >= most",
    why: "of two that are equal, each is the greater",
  },
  ...[
    ["ArrayDeclaration", '["Stryker was here"]'],
    ["ConditionalExpression", "true"],
  ].map(([mutator = "", replacement = ""]) => ({
    file: "chains/ask-nodes.ts",
    line: 'else resolve(rule.merge(same.flatMap((a) => (a.kind === "value" ? [a.value] : []))));',
    mutator,
    replacement,
    why: "answers that are the same are all values or all refusals",
  })),
  {
    file: "chains/ask-nodes.ts",
    line: 'if (chosen?.kind === "refusal") reject(chosen.error);',
    mutator: "OptionalChaining",
    replacement: "chosen.kind",
    why: "as many as must agree are at least one, and the compiler cannot know it",
  },
  {
    file: "chains/ask-nodes.ts",
    line: 'answer?.kind === "value" && answer.value !== null;',
    mutator: "OptionalChaining",
    replacement: "answer.kind",
    why: "as many as must agree are at least one, and the compiler cannot know it",
  },
  {
    file: "chains/ask-nodes.ts",
    line: "if (last !== undefined && Math.abs(clock.now() - last) < COMPLAINT_PAUSE_MS) return;",
    mutator: "ConditionalExpression",
    replacement: "true",
    why: "the time since undefined is less than nothing",
  },
  ...[
    ["EqualityOperator", "one <= other"],
    ["EqualityOperator", "one >= other"],
    ["ConditionalExpression", "true"],
  ].map(([mutator = "", replacement = ""]) => ({
    file: "chains/ask-nodes.ts",
    line: "const sorted = [...values].sort((one, other) => (one < other ? 1 : one > other ? -1 : 0));",
    mutator,
    replacement,
    why: "equal ones may stand in any order",
  })),
  {
    file: "addresses/issue.ts",
    line: "if (issued) return issued;",
    mutator: "ConditionalExpression",
    replacement: "false",
    why: "spares a transaction: what is in the way of the insert is read after it",
  },
  {
    file: "addresses/issue.ts",
    line: 'assert(stored !== null, "an address that was just inserted, or that was in the way, is there");',
    mutator: "ConditionalExpression",
    replacement: "true",
    why: "nothing ever deletes an address",
  },
  {
    file: "chains/evm/commitment.ts",
    line: 'return toEvmAddress(getContractAddress({ opcode: "CREATE", from: factory, nonce: 1n }));',
    mutator: "StringLiteral",
    replacement: '""',
    why: "the library takes whatever is not CREATE2 for it",
  },
  {
    file: "ledger/audit.ts",
    line: 'last = some.length < WALLETS_AT_ONCE ? "" : (some.at(-1) ?? "");',
    mutator: "StringLiteral",
    replacement: '"Stryker was here!"',
    why: "as many as there may be at once are at least one, and the compiler cannot know it",
  },
  {
    file: "ledger/audit.ts",
    line: "const tip = rows[0]?.tip ?? null;",
    mutator: "OptionalChaining",
    replacement: "rows[0].tip",
    why: "a maximum is always one row",
  },
  {
    file: "ledger/audit.ts",
    line: "const block = await chain.getBlock(finalNumber < tip ? finalNumber : tip);",
    mutator: "EqualityOperator",
    replacement: "finalNumber <= tip",
    why: "of two that are equal, each is the lesser",
  },
  ...[
    ["ConditionalExpression", "true"],
    ["EqualityOperator", "amount >= says"],
  ].map(([mutator = "", replacement = ""]) => ({
    file: "ledger/audit.ts",
    line: "} else if (amount > says && token !== NATIVE_TOKEN) {",
    mutator,
    replacement,
    why: "spares a transaction: a surplus is computed anew under a lock, and one of nothing is not posted",
  })),
  {
    file: "ledger/audit.ts",
    line: "const amounts = holdings.length === 0 ? [] : await chain.listTokenBalances(block.hash, holdings);",
    mutator: "ArrayDeclaration",
    replacement: '["Stryker was here"]',
    why: "amounts are read by their holdings, of which there are none",
  },
  {
    file: "ledger/accounts.ts",
    line: "if (surplus <= 0n) return 0n;",
    mutator: "EqualityOperator",
    replacement: "surplus < 0n",
    why: "the database posts nothing where nothing moves",
  },
  {
    file: "ledger/accounts.ts",
    line: "await sql`select pg_advisory_xact_lock(11, hashtext(${`${at.chainId}:${at.wallet}`}))`.execute(",
    mutator: "StringLiteral",
    replacement: "``",
    why: "one lock for all wallets is as safe, and only slower",
  },
];

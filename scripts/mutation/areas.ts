/** Areas of mutation testing: files, and the tests that state their rules. Add new areas here. */

/** An area. */
export interface Area {
  readonly name: string;
  /** Paths in `packages/service/src`. */
  readonly files: readonly string[];
  /** The tests that run. Tests that need nodes or the simulation are too slow. */
  readonly tests: readonly string[];
  /** Timeout of a mutant's tests in addition to 1.5 times their usual duration. Default 10 s. */
  readonly timeoutMs?: number;
}

/** Tests with a database can be slow on a busy machine without an endless loop. */
const DATABASE_TIMEOUT_MS = 30_000;

/** The folder of the mutated files. */
export const SOURCE = "packages/service/src";

/** Every area. */
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
    files: [
      "transactions/plan.ts",
      "transactions/lane.ts",
      "transactions/lane-send.ts",
      "transactions/lane-mined.ts",
    ],
    tests: [
      "transactions/lane.test.ts",
      "transactions/lane-bounds.test.ts",
      "transactions/lane-log.test.ts",
    ],
    timeoutMs: DATABASE_TIMEOUT_MS,
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
    files: [
      "ledger/audit.ts",
      "ledger/audit-final.ts",
      "ledger/audit-transit.ts",
      "ledger/audit-wallets.ts",
      "routes/swift/audit.ts",
      "ledger/breaches.ts",
      "ledger/end-breach.ts",
      "ledger/accounts.ts",
    ],
    tests: ["ledger/audit-bounds.test.ts", "ledger/audit-dates.test.ts", "ledger/breaches.test.ts"],
    timeoutMs: DATABASE_TIMEOUT_MS,
  },
];

/** A mutant that behaves like the code, so that no test can catch it. */
interface Equivalent {
  readonly file: string;
  /** The first changed line, without its indentation. */
  readonly line: string;
  readonly mutator: string;
  readonly replacement: string;
  readonly why: string;
}

/** Every known equivalent mutant, with the reason. */
export const EQUIVALENTS: readonly Equivalent[] = [
  ...["claimed", "returned", "taken_back"].map((state) => ({
    file: "routes/swift/lifecycle.ts",
    line: `${state}: [],`,
    mutator: "ArrayDeclaration",
    replacement: '["Stryker was here"]',
    why: "no state has this name, and the compiler rejects it",
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
    why: "no amount is less than undefined or a string",
  },
  {
    file: "events/store.ts",
    line: "if (cursors.size === 0) return [];",
    mutator: "ConditionalExpression",
    replacement: "false",
    why: "only saves a query that would return nothing",
  },
  ...[
    ["lane.ts", 'assert(transaction.nonce !== null, "an assigned transaction has its nonce");'],
    [
      "lane-send.ts",
      'assert(transaction.nonce !== null, "only an assigned transaction is signed");',
    ],
    ["lane-mined.ts", 'assert(transaction.mined !== null, "a mined transaction names its block");'],
  ].map(([name = "", line = ""]) => ({
    file: `transactions/${name}`,
    line,
    mutator: "ConditionalExpression",
    replacement: "true",
    why: "a database constraint rejects such a row",
  })),
  ...[
    ["ArrayDeclaration", '["Stryker was here"]'],
    ["OptionalChaining", "queued[position].id"],
  ].map(([mutator = "", replacement = ""]) => ({
    file: "transactions/lane.ts",
    line: "const memberIds = batch.members.flatMap((position) => queued[position]?.id ?? []);",
    mutator,
    replacement,
    why: "members are indexes of the given list, which the compiler cannot infer",
  })),
  {
    file: "transactions/lane.ts",
    line: "if (nextNonce !== null && count > nextNonce) {",
    mutator: "ConditionalExpression",
    replacement: "true",
    why: "the lane was registered before, which the compiler cannot infer",
  },
  {
    file: "transactions/lane.ts",
    line: "limits.batchCostMax !== undefined &&",
    mutator: "ConditionalExpression",
    replacement: "true",
    why: "no cost is greater than undefined",
  },
  {
    file: "transactions/lane-send.ts",
    line: "return attempt.sentAtMs === null || nowMs - attempt.sentAtMs >= limits.resendAfterMs;",
    mutator: "ConditionalExpression",
    replacement: "false",
    why: "an attempt that was never sent was not accepted, which is checked before, and nowMs - null is large",
  },
  {
    file: "transactions/lane-send.ts",
    line: "await send(deps, transaction, { ...attempt, sentAtMs: null, accepted: false });",
    mutator: "BooleanLiteral",
    replacement: "true",
    why: "sending reads only the bytes",
  },
  {
    file: "transactions/lane-send.ts",
    line: "return a > b ? a : b;",
    mutator: "EqualityOperator",
    replacement: "a >= b",
    why: "both values are equal",
  },
  {
    file: "chains/quorum.ts",
    line: 'return outcome === "unknown" ? "nothing" : "counts";',
    mutator: "StringLiteral",
    replacement: '""',
    why: "every value other than enough and counts means nothing",
  },
  {
    file: "chains/quorum.ts",
    line: "const reasons = new Set(same.flatMap((simulation) => (simulation.ok ? [] : simulation.reason)));",
    mutator: "ArrayDeclaration",
    replacement: '["Stryker was here"]',
    why: "simulations that agree all succeed or all revert, and reasons are read only after a revert",
  },
  {
    file: "chains/quorum.ts",
    line: 'const [reason = "reverted"] = reasons;',
    mutator: "StringLiteral",
    replacement: '""',
    why: "it is read only if there is exactly one reason",
  },
  {
    file: "chains/quorum.ts",
    line: "return { ok: true, gas: gas.reduce((most, one) => (one > most ? one : most)) };",
    mutator: "EqualityOperator",
    replacement: "one >= most",
    why: "both values are equal",
  },
  ...[
    ["ArrayDeclaration", '["Stryker was here"]'],
    ["ConditionalExpression", "true"],
  ].map(([mutator = "", replacement = ""]) => ({
    file: "chains/ask-nodes.ts",
    line: 'else resolve(rule.merge(same.flatMap((a) => (a.kind === "value" ? [a.value] : []))));',
    mutator,
    replacement,
    why: "equal answers are either all values or all errors",
  })),
  {
    file: "chains/ask-nodes.ts",
    line: 'if (chosen?.kind === "refusal") reject(chosen.error);',
    mutator: "OptionalChaining",
    replacement: "chosen.kind",
    why: "the quorum is at least one, which the compiler cannot infer",
  },
  {
    file: "chains/ask-nodes.ts",
    line: 'answer?.kind === "value" && answer.value !== null;',
    mutator: "OptionalChaining",
    replacement: "answer.kind",
    why: "the quorum is at least one, which the compiler cannot infer",
  },
  {
    file: "chains/ask-nodes.ts",
    line: "if (last !== undefined && Math.abs(clock.now() - last) < COMPLAINT_PAUSE_MS) return;",
    mutator: "ConditionalExpression",
    replacement: "true",
    why: "a time difference with undefined is NaN, which is not less than anything",
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
    why: "the order of equal values does not matter",
  })),
  {
    file: "addresses/issue.ts",
    line: "if (missing === 0 && !wanted.some(({ notes }) => hasNotes(notes))) return issued;",
    mutator: "ConditionalExpression",
    replacement: "false",
    why: "only saves a transaction: a conflicting row is read and checked after the insert",
  },
  {
    file: "addresses/issue.ts",
    line: 'assert(address, "the address exists after an insert or a conflict");',
    mutator: "ConditionalExpression",
    replacement: "true",
    why: "addresses are never deleted",
  },
  {
    file: "chains/evm/commitment.ts",
    line: 'return toEvmAddress(getContractAddress({ opcode: "CREATE", from: factory, nonce: 1n }));',
    mutator: "StringLiteral",
    replacement: '""',
    why: "the library treats every value other than CREATE2 as CREATE",
  },
  {
    file: "ledger/audit.ts",
    line: 'last = some.length < WALLETS_AT_ONCE ? "" : (some.at(-1) ?? "");',
    mutator: "StringLiteral",
    replacement: '"Stryker was here!"',
    why: "the page size is at least one, which the compiler cannot infer",
  },
  {
    file: "ledger/audit.ts",
    line: "return rows[0]?.tip ?? -1n;",
    mutator: "OptionalChaining",
    replacement: "rows[0].tip",
    why: "a query for a maximum always returns one row",
  },
  {
    file: "ledger/audit.ts",
    line: "const block = await chain.getBlock(finalNumber < tip ? finalNumber : tip);",
    mutator: "EqualityOperator",
    replacement: "finalNumber <= tip",
    why: "both values are equal",
  },
  ...[
    ["ConditionalExpression", "true"],
    ["EqualityOperator", "amount >= booked"],
  ].map(([mutator = "", replacement = ""]) => ({
    file: "ledger/audit.ts",
    line: '} else if (amount > booked && (chain.balances.kind === "final" || !isNative(token))) {',
    mutator,
    replacement,
    why: "only saves a transaction: the surplus is recomputed under a lock, and zero is not posted",
  })),
  {
    file: "ledger/audit.ts",
    line: "holdings.length === 0 ? [] : await balances.listTokenBalances(block.hash, holdings);",
    mutator: "ArrayDeclaration",
    replacement: '["Stryker was here"]',
    why: "there are no holdings, so no amount is read",
  },
  {
    file: "ledger/accounts.ts",
    line: "if (surplus <= 0n) return 0n;",
    mutator: "EqualityOperator",
    replacement: "surplus < 0n",
    why: "the database posts no lines for an amount of zero",
  },
  {
    file: "ledger/accounts.ts",
    line: "await sql`select pg_advisory_xact_lock(11, hashtext(${`${at.chainId}:${at.wallet}`}))`.execute(",
    mutator: "StringLiteral",
    replacement: "``",
    why: "one lock for all wallets is as safe, only slower",
  },
];

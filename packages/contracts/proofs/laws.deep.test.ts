/**
 * The laws of the contracts, proved over their bytecode for every input: a symbolic executor follows all paths, and z3
 * refutes those that break a law. For each law a planted mistake must make its proof fail.
 */
import { describe, expect, test } from "vitest";
import type { Path } from "./machine.ts";
import { brokenIn, compile, encode, type Contract, type Mistake } from "./prover.ts";
import {
  compare,
  compute,
  hash,
  isPossible,
  isRefuted,
  load,
  unknown,
  unknownStorage,
  type Word,
} from "./terms.ts";

const TIMEOUT_MS = 1_200_000;
const not = (word: Word) => compare("=", word, 0n);
const words = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => unknown(`${name}${index}`));
const endsWell = ({ end }: Path) => end === "return" || end === "stop";

/** Returns whether a law holds on all paths; without a path that ends well it would say nothing. */
const holds = (paths: readonly Path[]) =>
  paths.some(endsWell) && brokenIn(paths).every(({ conditions }) => isRefuted(conditions));

/** Declares the proof of a law, and that a mistake breaks it. */
function law(title: string, isProved: (mistake?: Mistake) => boolean, mistake: Mistake): void {
  describe(`${title}`, () => {
    test("is proved", () => expect(isProved()).toBe(true), TIMEOUT_MS);
    test("is not proved of a mistake", () => expect(isProved(mistake)).toBe(false), TIMEOUT_MS);
  });
}

/** Returns whether the hashed words are constants and each of the input's words once, whole. */
function isInjective(contract: Contract, method: string, inputs: number): boolean {
  const given = words(`${method}Input`, inputs);
  const [path, ...others] = contract
    .explore(method, { calldata: encode(...given) })
    .filter(endsWell);
  const [hashed = [], ...more] = path?.hashed ?? [];
  if (!path || others.length > 0 || more.length > 0) return false;
  const equals = (word: Word, input: Word) =>
    isRefuted([...path.conditions, not(compare("=", word, input))]);
  const places = given.map((input) => hashed.findIndex((word) => equals(word, input)));
  return (
    new Set(places).size === inputs &&
    !places.includes(-1) &&
    hashed.every((word, at) => places.includes(at) || typeof word === "bigint")
  );
}

const formats = (mistake?: Mistake) => compile("proofs/laws/FormatLaws.sol", "FormatLaws", mistake);

law(
  "every commitment has its own hash",
  (mistake) => isInjective(formats(mistake), "commitment", 10),
  { file: "src/types/Commitment.sol", find: "                c.routes,\n", replace: "" },
);

law("every lock has its own id", (mistake) => isInjective(formats(mistake), "delivery", 8), {
  file: "src/types/DeliveryId.sol",
  find: "abi.encode(DOMAIN, facts)",
  replace: "abi.encode(DOMAIN, facts.escrow, facts.seq)",
});

law(
  "fee and bridge fee together are within the committed cap, and less than the amount",
  (mistake) => {
    const laws = compile("proofs/laws/FeeLaws.sol", "FeeLaws", mistake);
    return holds(laws.explore("charge", { calldata: encode(...words("feeInput", 14)) }));
  },
  {
    file: "src/types/RouteFee.sol",
    find: "Math.min(amount * maxFeeBps / BPS, amount - 1)",
    replace: "amount * maxFeeBps / BPS",
  },
);

const MEMBERS = "proofs/laws/MemberLaws.sol";

/** Returns whether no call leaves an account pending and listed that was not both. */
function isNeverBoth(mistake?: Mistake): boolean {
  const laws = compile(MEMBERS, "MemberLaws", mistake);
  const [role = 0n, account = 0n, other = 0n] = words("member", 3);
  const otherRole = 1n;
  const before = unknownStorage("members");
  const lengthAt = (r: Word, a: Word) => hash([a, hash([r, laws.slotOf("_members")])]);
  const pendingAt = (r: Word, a: Word) => hash([a, hash([r, laws.slotOf("_etas")])]);
  const isBoth = (storage: string, r: Word, a: Word) =>
    compute(
      "bvmul",
      compute("bvand", load(storage, lengthAt(r, a)), 1n),
      not(not(load(storage, pendingAt(r, a)))),
    );
  // No list has 2^64 entries.
  const isShort = (r: Word, a: Word) => compare("bvult", load(before, lengthAt(r, a)), 1n << 64n);
  const isAccount = (word: Word) => compare("bvult", word, 1n << 160n);
  const conditions = [
    not(isBoth(before, otherRole, other)),
    isShort(role, account),
    isShort(otherRole, other),
    isAccount(account),
    isAccount(other),
  ];
  return ["schedule", "execute", "cancel", "remove", "seal"].every((method) => {
    const call = { calldata: encode(role, account), storage: before, conditions };
    const ends = laws.explore(method, call).filter(endsWell);
    return (
      ends.length > 0 &&
      ends.every((path) => isRefuted([...path.conditions, isBoth(path.storage, otherRole, other)]))
    );
  });
}

law("an account is never pending and listed", isNeverBoth, {
  file: "src/Governed.sol",
  find: "        if (hasRole(role, who)) revert AlreadyMember(role, who);\n",
  replace: "",
});

const ESCROW = "src/Escrow.sol";
const LOCKED = 1n;
const BYTE = 255n;
/** The bytes above the state. */
const TIME = 2n ** 256n - 256n;

/** Arguments of the escrow's methods: lock, commitment and numbers, then signatures of one attestor. */
function argumentsOf(method: string): Word[] {
  const [held, commitment] = [words("held", 6), words("commitment", 10)];
  const [paid = 0n, deadline = 0n, r = 0n, s = 0n, v = 0n] = words("claimed", 5);
  const signatures = [65n, r, s, v];
  const calls: Readonly<Record<string, readonly Word[]>> = {
    claim: [...held, paid, deadline, 9n * 32n, ...signatures],
    returnToWallet: [...held, deadline, 8n * 32n, ...signatures],
    takeBack: [...held, ...commitment],
    announceTakeBack: [...commitment, paid],
    cancelTakeBack: [...commitment, paid],
    collect: [paid],
  };
  return [...(calls[method] ?? [])];
}

/**
 * Returns whether a method changes the state of a lock only from locked, with no call of another contract between the look
 * and the change, never back to locked, and never the time of a lock.
 */
function endsOnlyLocked(escrow: Contract, method: string): boolean {
  const id = unknown("anyLock");
  const place = hash([id, escrow.slotOf("_records")]);
  const storage = unknownStorage("locks");
  const paths = escrow.explore(method, { calldata: encode(...argumentsOf(method)), storage });
  const ends = paths.filter(endsWell);
  return (
    ends.length > 0 &&
    ends.every(({ conditions, writes }) =>
      writes.every(({ key, value, before }) => {
        const isState = [...conditions, compare("=", key, place)];
        const wasLocked = compare("=", compute("bvand", before, BYTE), LOCKED);
        const isLocked = compare("=", compute("bvand", value, BYTE), LOCKED);
        const timeOf = (word: Word) => compute("bvand", word, TIME);
        const keepsTime = compare("=", timeOf(before), timeOf(value));
        return [not(wasLocked), isLocked, not(keepsTime)].every((broken) =>
          isRefuted([...isState, broken]),
        );
      }),
    )
  );
}

/** All that may write, but `lock`, which counts its ids, and the batch of claims, which calls the escrow itself. */
const METHODS = [
  "takeBack",
  "announceTakeBack",
  "cancelTakeBack",
  "collect",
  "claim",
  "returnToWallet",
];

law(
  "a lock ends once",
  (mistake) => {
    const escrow = compile(ESCROW, "Escrow", mistake);
    return METHODS.every((method) => endsOnlyLocked(escrow, method));
  },
  {
    file: ESCROW,
    find: "        _records[deliveryId].state = state;\n        _send(held.token, to, held.amount);",
    replace:
      "        _send(held.token, to, held.amount);\n        _records[deliveryId].state = state;",
  },
);

test("a path that the solver does not know is followed, and never a proof", () => {
  const word = unknown("some");
  expect(isPossible([word])).toBe(true);
  expect(isRefuted([word])).toBe(false);
  expect(isRefuted([word, not(word)])).toBe(true);
});

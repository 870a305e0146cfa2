/**
 * Answers of the operators' console to its own page. They belong to no published interface, and change with the page.
 * Amounts are in whole units with their symbol, times are wire timestamps.
 */

/** What a person may do: look; also act; also decide who else may. */
export const OPERATOR_ROLES = ["viewer", "operator", "admin"] as const;
/** What a person may do. */
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** Refusals of signing in by an identity provider, as the page's address names them. */
export const SIGN_IN_PROBLEMS = ["refused", "nobody", "disabled", "unreachable"] as const;
/** Why signing in by an identity provider was refused. */
export type SignInProblem = (typeof SIGN_IN_PROBLEMS)[number];

/** The session of the page. */
export interface ConsoleSession {
  readonly operator: { readonly name: string; readonly role: OperatorRole };
  readonly expiresAt: string;
  /** Passkeys of the operator. Without one it can look, and nothing else. */
  readonly passkeys: number;
  /** Whether a passkey signed for this session. */
  readonly isVerified: boolean;
  /** Milliseconds for which actions that need a fresh passkey go through without another one. */
  readonly freshForMs: number;
}

/** Work and problems at present. */
export interface ConsoleOverview {
  readonly chains: readonly ConsoleChain[];
  /** Settlements that have not ended, by chain and status. */
  readonly open: readonly {
    readonly chain: string;
    readonly status: string;
    readonly count: number;
    /** Seconds since the oldest was created. */
    readonly oldestS: number;
  }[];
  /** Settlements that a state of the contracts or an operator holds. */
  readonly held: readonly {
    readonly chain: string;
    readonly reason: string;
    readonly count: number;
  }[];
  readonly pauses: readonly ConsolePause[];
  /** The newest moves of treasuries, the newest first. */
  readonly moves: readonly ConsoleMove[];
  /** Locks and bridge transfers that have not ended, by state. */
  readonly inFlight: readonly {
    readonly chain: string;
    readonly what: string;
    readonly state: string;
    readonly count: number;
    readonly oldestS: number | null;
  }[];
  /** Chains that pay before finality. */
  readonly early: readonly ConsoleEarly[];
}

/** What payouts before finality risk on a source chain. Amounts are US dollars. */
export interface ConsoleEarly {
  readonly chainId: number;
  readonly chain: string;
  /** The most that may be counted. */
  readonly exposureUsd: string;
  readonly countedUsd: string;
  readonly payouts: number;
  /** Since when they are closed; null while they are open. */
  readonly closed: { readonly at: string; readonly reason: string } | null;
  /** Paid locks that final blocks do not have. */
  readonly missing: readonly {
    readonly deliveryId: string;
    readonly settlementId: string;
    readonly worthUsd: string;
    readonly since: string;
  }[];
}

/** A chain in the overview. */
export interface ConsoleChain {
  readonly chainId: number;
  readonly name: string;
  /** Newest scanned block; null before the first. */
  readonly scanned: number | null;
  readonly final: number | null;
  /** Transactions that wait for a nonce, or to be mined. */
  readonly queued: number;
  readonly unmined: number;
  /** Transactions that have not been mined for five minutes. */
  readonly stuck: number;
  /** Seconds since the auditor last compared the chain; null before. */
  readonly auditedS: number | null;
  /** Open breaches that halt the chain, wallets in quarantine, and comparisons that a node could not answer. */
  readonly breaches: number;
  readonly quarantines: number;
  readonly unproved: number;
  /** Changes of the contracts that nobody expected. */
  readonly governance: number;
  /** Requests of this day (UTC) to the nodes with a daily budget, reserved ones included. */
  readonly budgets: readonly {
    readonly host: string;
    readonly used: number;
    readonly max: number;
  }[];
}

/** What each account of the ledger holds. */
export interface ConsoleBooks {
  readonly at: string;
  /** Amounts in whole units with the symbol, below zero where the account gave. Accounts without a balance are left out. */
  readonly accounts: readonly {
    readonly chain: string;
    readonly account: string;
    readonly amount: string;
  }[];
}

/** Examinations that can be run from the console. */
export const CONSOLE_EXAMINATIONS = ["doctor", "audit"] as const;
/** An examination that can be run from the console. */
export type ConsoleExamination = (typeof CONSOLE_EXAMINATIONS)[number];

/** The last run of an examination in this process. */
export interface ConsoleRun {
  readonly state: "never" | "running" | "ended";
  readonly startedBy: string | null;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** Whether nothing was found; null before the end. */
  readonly ok: boolean | null;
  /** The report, as its command prints it, or why there is none. */
  readonly text: string | null;
}

/** Lists of an integrator, beside its settlements. */
export const CONSOLE_INTEGRATOR_LISTS = ["addresses", "deposits", "refunds"] as const;
/** A list of an integrator, beside its settlements. */
export type ConsoleIntegratorList = (typeof CONSOLE_INTEGRATOR_LISTS)[number];

/** A page of a list, as it is shown: the first column is a time. */
export interface ConsoleTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly nextCursor: string | null;
}

/** A new API key, shown once. */
export interface ConsoleKey {
  readonly keyId: string;
  readonly apiKey: string;
}

/** A pause. */
export interface ConsolePause {
  readonly scope: string;
  readonly chainId: number | null;
  readonly chain: string | null;
  /** The integrator, the token or the kind of route; empty for a chain. */
  readonly subject: string;
  readonly reason: string;
  readonly operator: string;
  readonly pausedAt: string;
}

/** A settlement in a list. */
export interface ConsoleListed {
  readonly id: string;
  readonly status: string;
  readonly integrator: string;
  readonly chain: string;
  readonly destChain: string;
  readonly amount: string;
  readonly wallet: string;
  readonly userId: string;
  readonly error: string | null;
  readonly retryCount: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A page of settlements, newest first. */
export interface ConsoleList {
  readonly items: readonly ConsoleListed[];
  readonly nextCursor: string | null;
}

/** The settlements that a retry of many takes: the longest unchanged first, at most so many at once. */
export interface ConsoleRetryPreview {
  readonly count: number;
  /** Whether there are more than one retry takes. */
  readonly isMore: boolean;
}

/** What came of a retry of many. */
export interface ConsoleRetries {
  readonly retried: number;
  readonly refused: readonly { readonly id: string; readonly reason: string }[];
}

/** Something that happened to a settlement. */
export interface ConsoleEvent {
  readonly at: string;
  readonly kind: "status" | "deposit" | "transaction" | "attempt" | "lock" | "bridge" | "operator";
  readonly text: string;
  readonly isProblem: boolean;
  readonly txHash: string | null;
}

/** What an operator can do to a settlement now, or why not. */
export interface ConsoleAction {
  readonly action: "retry" | "refund";
  /** Null if it is possible. */
  readonly obstacle: string | null;
}

/** One settlement. */
export interface ConsoleFile {
  readonly id: string;
  readonly status: string;
  /** Labels and texts, in order. */
  readonly facts: readonly (readonly [string, string])[];
  readonly waitsFor: string | null;
  readonly nextTry: string | null;
  readonly timeline: readonly ConsoleEvent[];
  readonly actions: readonly ConsoleAction[];
  /** The only recipient of a refund. */
  readonly refundAuthority: string;
}

/** A line of the log of what people did by hand. */
export interface ConsoleLogLine {
  readonly seq: number;
  readonly at: string;
  readonly operator: string;
  readonly action: string;
  readonly reason: string | null;
  readonly settlementId: string | null;
  readonly hash: string;
}

/** A page of the log, newest first. */
export interface ConsoleLog {
  readonly lines: readonly ConsoleLogLine[];
}

/** Whether the whole log is as it was written. */
export interface ConsoleLogProof {
  readonly lines: number;
  /** Hash of the newest line; null for an empty log. */
  readonly head: string | null;
  /** The first line whose hash differs; null without one. */
  readonly brokenAt: number | null;
}

/** A person who may use the console. */
export interface ConsolePerson {
  readonly name: string;
  readonly role: OperatorRole;
  readonly createdAt: string;
  readonly disabledAt: string | null;
  readonly passkeys: number;
  readonly openSessions: number;
}

/** Values read from nodes on request, and cached for some seconds. */
export interface ConsoleReadings {
  readonly at: string;
  readonly chains: readonly {
    readonly chain: string;
    /** Height of the newest block; null while no node answers. */
    readonly head: number | null;
    /** Why not; null if one answers. */
    readonly problem: string | null;
  }[];
  /** Accounts that pay for gas. */
  readonly lanes: readonly {
    readonly chain: string;
    readonly purpose: string;
    readonly account: string;
    /** Null while no node answers. */
    readonly balance: string | null;
    /** Days for which the balance lasts at the pace of its newest transactions; null without any. */
    readonly runwayDays: number | null;
  }[];
  /** Null while no node answers. */
  readonly inventories: readonly ConsoleInventory[] | null;
  /** Where treasuries refill inventories; empty without a treasury contract. */
  readonly directions: readonly ConsoleDirection[];
}

/** Where a treasury can move a token to. */
export interface ConsoleDirection {
  /** Bridge chain id of the treasury. */
  readonly fromChainId: number;
  /** Bridge chain id of the inventory. */
  readonly toChainId: number;
  readonly from: string;
  readonly to: string;
  readonly symbol: string;
  /** Whole units that a move may take now; null while no node answers. */
  readonly movable: string | null;
}

/** A move of a treasury to an inventory, with its amount in whole units. */
export interface ConsoleMove {
  readonly move: string;
  readonly from: string;
  readonly to: string;
  readonly symbol: string;
  readonly amount: string;
  readonly state: string;
  /** Null if the service planned it. */
  readonly operator: string | null;
  readonly reason: string;
  /** Why it cannot be planned now; null while nothing is known. */
  readonly error: string | null;
  readonly createdAt: string;
  readonly endedAt: string | null;
}

/** An inventory, in whole units. */
export interface ConsoleInventory {
  readonly chain: string;
  readonly symbol: string;
  readonly balance: string;
  readonly reserved: string;
  readonly capLeft: string;
  readonly available: string;
  readonly unpaid: { readonly count: number; readonly amount: string };
  readonly unclaimed: {
    readonly count: number;
    readonly amount: string;
    readonly oldestMinutes: number | null;
  };
  readonly paidIn7Days: string;
  /** Hours that it lasts at the pace of seven days; null if nothing was paid in them. */
  readonly runwayHours: string | null;
}

/** One chain, with everything an operator needs to repair it. */
export interface ConsoleChainFile {
  readonly chain: ConsoleChain;
  /** Whether new quotes and addresses are issued for it. */
  readonly state: string;
  readonly breaches: readonly ConsoleBreach[];
  /** Transactions that are not final, at most a hundred, by lane and nonce. */
  readonly transactions: readonly ConsoleOpenTransaction[];
  /** Changes of the contracts that are pending or that nobody expected. */
  readonly changes: readonly ConsoleChange[];
}

/** An open breach, or a quarantine. */
export interface ConsoleBreach {
  readonly id: string;
  readonly name: string;
  /** What it is about, such as a wallet and a token. */
  readonly subject: string;
  readonly facts: readonly (readonly [string, string])[];
  readonly foundAt: string;
  /** Since when the compared values agree again; null while they do not. */
  readonly heldSince: string | null;
  readonly effect: string;
  readonly cause: string | null;
  readonly remedy: string | null;
}

/** A transaction of a lane that is not final. */
export interface ConsoleOpenTransaction {
  readonly lane: string;
  readonly nonce: number | null;
  readonly state: string;
  readonly intent: string;
  readonly settlementId: string | null;
  readonly attempts: number;
  readonly hash: string | null;
  readonly createdAt: string;
  /** Whether a transfer of nothing can take its nonce. */
  readonly isCancellable: boolean;
}

/** A change of the contracts by their owner or guardian. */
export interface ConsoleChange {
  readonly id: string;
  readonly text: string;
  readonly state: string;
  readonly isExpected: boolean;
  readonly executableFrom: string | null;
  readonly txHash: string;
}

/** A deposit that waits for its screening, or that the screening holds. */
export interface ConsoleScreening {
  readonly depositId: string;
  readonly chain: string;
  readonly amount: string;
  readonly wallet: string;
  readonly sender: string | null;
  readonly verdict: string;
  readonly detail: string | null;
  readonly since: string;
}

/** An integrator in a list. */
export interface ConsoleIntegrator {
  readonly name: string;
  readonly addressesIssued: number;
  readonly gas: string;
  readonly createdAt: string;
}

/** One integrator. */
export interface ConsoleIntegratorFile {
  readonly name: string;
  readonly facts: readonly (readonly [string, string])[];
  readonly keys: readonly {
    readonly id: string;
    readonly label: string | null;
    readonly prefix: string | null;
    readonly state: string;
    readonly scopes: readonly string[];
    readonly lastUsedAt: string | null;
    readonly expiresAt: string | null;
  }[];
  readonly endpoints: readonly {
    readonly id: string;
    readonly url: string;
    readonly state: string;
    readonly disabledReason: string | null;
    readonly failingSince: string | null;
  }[];
}

/** Deliveries of a webhook endpoint, newest first. */
export interface ConsoleWebhooks {
  readonly items: readonly {
    readonly eventId: string;
    readonly type: string;
    readonly at: string;
    readonly state: string;
    readonly attempts: number;
    /** The last attempt: a status or an error; null before the first. */
    readonly last: string | null;
    readonly latencyMs: number | null;
    readonly nextAttemptAt: string | null;
  }[];
  readonly isMore: boolean;
}

/** Ranges of time that are drawn. */
export const TREND_RANGES = ["1h", "24h", "7d", "30d"] as const;
/** A range of time that is drawn. */
export type TrendRange = (typeof TREND_RANGES)[number];

/** What happened over time, in spans of equal length, the newest last and not over yet. */
export interface ConsoleTrends {
  /** Beginning of each span, in seconds since the epoch. */
  readonly at: readonly number[];
  readonly spanS: number;
  /** Seconds from a settlement's creation to its completion; null in spans without one. */
  readonly p50S: readonly (number | null)[];
  readonly p95S: readonly (number | null)[];
  /** The most blocks that each chain's scanner was behind the node's head; null in spans in which none ran. */
  readonly lags: readonly { readonly chain: string; readonly blocks: readonly (number | null)[] }[];
  /** Completed settlements by kind of route. */
  readonly routes: readonly { readonly name: string; readonly counts: readonly number[] }[];
  /** Fees earned for service and gas, by token, in whole units. */
  readonly fees: readonly {
    readonly token: string;
    readonly total: string;
    readonly amounts: readonly number[];
  }[];
}

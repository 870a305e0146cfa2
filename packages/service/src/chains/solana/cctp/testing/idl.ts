/**
 * What the published IDLs of Circle's CCTP v2 programs on Solana (version 0.2.0) say of the instructions and accounts that
 * are used here: discriminators, accounts in their order and how the addresses of some follow, fields and their types.
 * Facts only, taken by a script from `message_transmitter_v2.json` and `token_messenger_minter_v2.json`, which say the same
 * of these in circlefin/solana-cctp-contracts at 76018c2 (`examples/target/idl`) and in the npm package
 * `@across-protocol/contracts` 5.0.27 (`dist/src/svm/assets/idl`).
 */

/** A seed of an address: a text, a key, or another account of the instruction (or a field of its data). */
export type Seed =
  { readonly text: string } | { readonly key: string } | { readonly account: string };

export interface IdlAccount {
  readonly name: string;
  readonly writable?: true;
  readonly signer?: true;
  /** Where it is always the same. */
  readonly address?: string;
  /** Where it follows from others. */
  readonly seeds?: readonly Seed[];
  /** Whose seeds they are, where it is not the instruction's own program. */
  readonly program?: string;
}

export interface IdlInstruction {
  readonly program: string;
  /** Hex. */
  readonly discriminator: string;
  /** Name of a type. */
  readonly args: string;
  readonly accounts: readonly IdlAccount[];
}

export type FieldType = "u8" | "u32" | "u64" | "i64" | "pubkey" | "bytes";

/** Of both instructions that the messenger is handed a message by. */
const HANDLED = [
  {
    name: "authority_pda",
    signer: true,
    seeds: [
      { text: "message_transmitter_authority" },
      { key: "CCTPV2vPZJS2u2BBsUoscuikbYjnpFmbFsvVuJdgUMQe" },
    ],
    program: "CCTPV2Sm4AdWt5296sk4P66VBZ7bEhcARwFaaS9YPbeC",
  },
  { name: "token_messenger" },
  { name: "remote_token_messenger" },
  { name: "token_minter" },
  {
    name: "local_token",
    writable: true,
    seeds: [{ text: "local_token" }, { account: "local_token.mint" }],
  },
  { name: "token_pair" },
  {
    name: "fee_recipient_token_account",
    writable: true,
    seeds: [
      { account: "token_messenger.fee_recipient" },
      { key: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA" },
      { account: "local_token.mint" },
    ],
    program: "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL",
  },
  { name: "recipient_token_account", writable: true },
  {
    name: "custody_token_account",
    writable: true,
    seeds: [{ text: "custody" }, { account: "local_token.mint" }],
  },
  { name: "token_program", address: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA" },
  { name: "event_authority", seeds: [{ text: "__event_authority" }] },
  { name: "program" },
] as const satisfies readonly IdlAccount[];

export const INSTRUCTIONS = {
  deposit_for_burn: {
    program: "CCTPV2vPZJS2u2BBsUoscuikbYjnpFmbFsvVuJdgUMQe",
    discriminator: "d73c3d2e723780b0",
    args: "DepositForBurnParams",
    accounts: [
      { name: "owner", signer: true },
      { name: "event_rent_payer", writable: true, signer: true },
      { name: "sender_authority_pda", seeds: [{ text: "sender_authority" }] },
      { name: "burn_token_account", writable: true },
      { name: "denylist_account", seeds: [{ text: "denylist_account" }, { account: "owner" }] },
      { name: "message_transmitter", writable: true },
      { name: "token_messenger" },
      { name: "remote_token_messenger" },
      { name: "token_minter" },
      {
        name: "local_token",
        writable: true,
        seeds: [{ text: "local_token" }, { account: "burn_token_mint" }],
      },
      { name: "burn_token_mint", writable: true },
      { name: "message_sent_event_data", writable: true, signer: true },
      {
        name: "message_transmitter_program",
        address: "CCTPV2Sm4AdWt5296sk4P66VBZ7bEhcARwFaaS9YPbeC",
      },
      {
        name: "token_messenger_minter_program",
        address: "CCTPV2vPZJS2u2BBsUoscuikbYjnpFmbFsvVuJdgUMQe",
      },
      { name: "token_program", address: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA" },
      { name: "system_program", address: "11111111111111111111111111111111" },
      { name: "event_authority", seeds: [{ text: "__event_authority" }] },
      { name: "program" },
    ],
  },
  receive_message: {
    program: "CCTPV2Sm4AdWt5296sk4P66VBZ7bEhcARwFaaS9YPbeC",
    discriminator: "26907fe11fe1ee19",
    args: "ReceiveMessageParams",
    accounts: [
      { name: "payer", writable: true, signer: true },
      { name: "caller", signer: true },
      {
        name: "authority_pda",
        seeds: [{ text: "message_transmitter_authority" }, { account: "receiver" }],
      },
      { name: "message_transmitter" },
      { name: "used_nonce", writable: true },
      { name: "receiver" },
      { name: "system_program", address: "11111111111111111111111111111111" },
      { name: "event_authority", seeds: [{ text: "__event_authority" }] },
      { name: "program" },
    ],
  },
  handle_receive_finalized_message: {
    program: "CCTPV2vPZJS2u2BBsUoscuikbYjnpFmbFsvVuJdgUMQe",
    discriminator: "bafcef4656b46e5f",
    args: "HandleReceiveMessageParams",
    accounts: HANDLED,
  },
  handle_receive_unfinalized_message: {
    program: "CCTPV2vPZJS2u2BBsUoscuikbYjnpFmbFsvVuJdgUMQe",
    discriminator: "c8a9af14c83ab63d",
    args: "HandleReceiveMessageParams",
    accounts: HANDLED,
  },
} as const satisfies Record<string, IdlInstruction>;

/** Fields in their order. */
export const TYPES = {
  DepositForBurnParams: [
    ["amount", "u64"],
    ["destination_domain", "u32"],
    ["mint_recipient", "pubkey"],
    ["destination_caller", "pubkey"],
    ["max_fee", "u64"],
    ["min_finality_threshold", "u32"],
  ],
  ReceiveMessageParams: [
    ["message", "bytes"],
    ["attestation", "bytes"],
  ],
  MessageSent: [
    ["rent_payer", "pubkey"],
    ["created_at", "i64"],
    ["message", "bytes"],
  ],
  TokenMessenger: [
    ["denylister", "pubkey"],
    ["owner", "pubkey"],
    ["pending_owner", "pubkey"],
    ["message_body_version", "u32"],
    ["authority_bump", "u8"],
    ["fee_recipient", "pubkey"],
    ["min_fee_controller", "pubkey"],
    ["min_fee", "u32"],
  ],
} as const satisfies Record<string, readonly (readonly [string, FieldType])[]>;

/** Discriminators of accounts, in hex. */
export const ACCOUNTS = {
  MessageSent: "83648538a6e1973c",
  TokenMessenger: "a204f23493f3dd60",
} as const;

/** Deposit addresses as `GET /deposit-addresses` lists them, and a single one with its commitment. */
import { Type, type Static } from "typebox";
import { CHAIN_KINDS } from "./chain.ts";
import { noteFields } from "./details.ts";
import {
  address,
  bridgeChainIdText,
  nextCursor,
  oneOf,
  timestamp,
  userId,
  uuid,
} from "./fields.ts";
import { PayDepositCommitment } from "./quote.ts";

/** Item of `GET /deposit-addresses`. */
export const DepositAddress = Type.Object(
  {
    id: uuid("Id of the record"),
    walletAddress: address("The deposit address on the source chain"),
    userId: userId("The user of the address"),
    destChain: bridgeChainIdText("Destination chain"),
    destWallet: address("Destination wallet"),
    destToken: address("Destination token"),
    chainType: oneOf(CHAIN_KINDS, "Family of the source chain"),
    createdAt: timestamp("When the address was issued"),
  },
  { $id: "DepositAddress", description: "A permanent address with one fixed destination" },
);
/** A permanent address with one fixed destination. */
export type DepositAddress = Static<typeof DepositAddress>;

/** Response of `GET /deposit-addresses/{id}`. Addition to the published interface. */
export const DepositAddressWithCommitment = Type.Object(
  { ...DepositAddress.properties, ...noteFields, payDepositCommitment: PayDepositCommitment },
  {
    $id: "DepositAddressWithCommitment",
    description: "A deposit address and the preimage from which anyone can compute it",
  },
);
/** A deposit address and its preimage. */
export type DepositAddressWithCommitment = Static<typeof DepositAddressWithCommitment>;

/** Response of `GET /deposit-addresses`, newest first. */
export const DepositAddressPage = Type.Object(
  {
    items: Type.Array(DepositAddress, { description: "Addresses, newest first" }),
    nextCursor: nextCursor("cursor"),
  },
  { $id: "DepositAddressPage", description: "A page of deposit addresses" },
);
/** A page of deposit addresses. */
export type DepositAddressPage = Static<typeof DepositAddressPage>;

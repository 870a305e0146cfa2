/** `POST /addresses` of the quote service: many deposit addresses in one call, without quotes. Addition to the published interface. */
import { Type, type Static } from "typebox";
import { DepositAddressWithCommitment } from "./deposit-address.ts";
import { QuoteRequest } from "./quote.ts";

/** Addresses that one call issues at most. */
export const ISSUED_ADDRESSES_MAX = 500;

const { fromChain, toChain, toToken, payUserId, payLabel, payMetadata, payRoutes, payUnattended } =
  QuoteRequest.properties;

/** One address of `POST /addresses`. Its fields are those of a quote request. */
export const AddressRequest = Type.Object(
  {
    fromChain,
    toChain,
    toToken,
    destinationAddress: Type.String({
      minLength: 1,
      description: "Destination wallet",
    }),
    payUserId,
    payLabel,
    payMetadata,
    payRoutes,
    payUnattended,
  },
  {
    $id: "AddressRequest",
    additionalProperties: false,
    description: "A deposit address to issue; its fields are those of a quote request",
  },
);
/** One address of `POST /addresses`. */
export type AddressRequest = Static<typeof AddressRequest>;

/** Body of `POST /addresses`. */
export const AddressesRequest = Type.Object(
  {
    addresses: Type.Array(AddressRequest, {
      minItems: 1,
      maxItems: ISSUED_ADDRESSES_MAX,
      description: `1 to ${ISSUED_ADDRESSES_MAX} addresses; all are issued, or none`,
    }),
  },
  {
    $id: "AddressesRequest",
    additionalProperties: false,
    description: "Deposit addresses to issue",
  },
);
/** Body of `POST /addresses`. */
export type AddressesRequest = Static<typeof AddressesRequest>;

/** Response of `POST /addresses`. */
export const AddressesResponse = Type.Object(
  {
    addresses: Type.Array(DepositAddressWithCommitment, {
      description:
        "The addresses in the order of the request, each with the preimage of its commitment, by which it is verified before it is shown",
    }),
  },
  { $id: "AddressesResponse", description: "Deposit addresses in the order of the request" },
);
/** Response of `POST /addresses`. */
export type AddressesResponse = Static<typeof AddressesResponse>;

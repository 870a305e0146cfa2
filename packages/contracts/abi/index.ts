// Generated from the Solidity sources by `npm run gen`. Do not edit.

export const depositFactoryAbi = [
  {
    type: "constructor",
    inputs: [
      { name: "owner_", type: "address", internalType: "address" },
      { name: "guardian_", type: "address", internalType: "address" },
      { name: "delay_", type: "uint256", internalType: "uint256" },
    ],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "ATTESTOR",
    inputs: [],
    outputs: [{ name: "", type: "bytes32", internalType: "bytes32" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "GUARDIAN",
    inputs: [],
    outputs: [{ name: "", type: "bytes32", internalType: "bytes32" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "ROUTE",
    inputs: [],
    outputs: [{ name: "", type: "bytes32", internalType: "bytes32" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "acceptOwnership",
    inputs: [],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "cancel",
    inputs: [
      { name: "role", type: "bytes32", internalType: "bytes32" },
      { name: "who", type: "address", internalType: "address" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "delay",
    inputs: [],
    outputs: [{ name: "", type: "uint256", internalType: "uint256" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "deploy",
    inputs: [
      {
        name: "c",
        type: "tuple",
        internalType: "struct Commitment",
        components: [
          { name: "integrator", type: "bytes32", internalType: "bytes32" },
          { name: "userId", type: "bytes32", internalType: "bytes32" },
          { name: "destChain", type: "uint16", internalType: "uint16" },
          { name: "destWallet", type: "bytes32", internalType: "bytes32" },
          { name: "destToken", type: "bytes32", internalType: "bytes32" },
          { name: "refundAuthority", type: "bytes32", internalType: "bytes32" },
          { name: "maxFeeBps", type: "uint16", internalType: "uint16" },
          { name: "maxSlippageBps", type: "uint16", internalType: "uint16" },
        ],
      },
    ],
    outputs: [{ name: "", type: "address", internalType: "address" }],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "deployMany",
    inputs: [
      {
        name: "commitments",
        type: "tuple[]",
        internalType: "struct Commitment[]",
        components: [
          { name: "integrator", type: "bytes32", internalType: "bytes32" },
          { name: "userId", type: "bytes32", internalType: "bytes32" },
          { name: "destChain", type: "uint16", internalType: "uint16" },
          { name: "destWallet", type: "bytes32", internalType: "bytes32" },
          { name: "destToken", type: "bytes32", internalType: "bytes32" },
          { name: "refundAuthority", type: "bytes32", internalType: "bytes32" },
          { name: "maxFeeBps", type: "uint16", internalType: "uint16" },
          { name: "maxSlippageBps", type: "uint16", internalType: "uint16" },
        ],
      },
    ],
    outputs: [{ name: "wallets", type: "address[]", internalType: "address[]" }],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "domainSeparator",
    inputs: [],
    outputs: [{ name: "", type: "bytes32", internalType: "bytes32" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "eta",
    inputs: [
      { name: "role", type: "bytes32", internalType: "bytes32" },
      { name: "who", type: "address", internalType: "address" },
    ],
    outputs: [{ name: "", type: "uint256", internalType: "uint256" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "execute",
    inputs: [
      { name: "role", type: "bytes32", internalType: "bytes32" },
      { name: "who", type: "address", internalType: "address" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "guardian",
    inputs: [],
    outputs: [{ name: "", type: "address", internalType: "address" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "hasEnoughAttestors",
    inputs: [],
    outputs: [{ name: "", type: "bool", internalType: "bool" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "hasRole",
    inputs: [
      { name: "role", type: "bytes32", internalType: "bytes32" },
      { name: "who", type: "address", internalType: "address" },
    ],
    outputs: [{ name: "", type: "bool", internalType: "bool" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "hashOf",
    inputs: [
      {
        name: "c",
        type: "tuple",
        internalType: "struct Commitment",
        components: [
          { name: "integrator", type: "bytes32", internalType: "bytes32" },
          { name: "userId", type: "bytes32", internalType: "bytes32" },
          { name: "destChain", type: "uint16", internalType: "uint16" },
          { name: "destWallet", type: "bytes32", internalType: "bytes32" },
          { name: "destToken", type: "bytes32", internalType: "bytes32" },
          { name: "refundAuthority", type: "bytes32", internalType: "bytes32" },
          { name: "maxFeeBps", type: "uint16", internalType: "uint16" },
          { name: "maxSlippageBps", type: "uint16", internalType: "uint16" },
        ],
      },
    ],
    outputs: [{ name: "", type: "bytes32", internalType: "bytes32" }],
    stateMutability: "pure",
  },
  {
    type: "function",
    name: "implementation",
    inputs: [],
    outputs: [{ name: "", type: "address", internalType: "address" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "initCode",
    inputs: [],
    outputs: [{ name: "", type: "bytes", internalType: "bytes" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "initCodeHash",
    inputs: [],
    outputs: [{ name: "", type: "bytes32", internalType: "bytes32" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "isAttestor",
    inputs: [{ name: "who", type: "address", internalType: "address" }],
    outputs: [{ name: "", type: "bool", internalType: "bool" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "isRelayer",
    inputs: [{ name: "who", type: "address", internalType: "address" }],
    outputs: [{ name: "", type: "bool", internalType: "bool" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "isRoute",
    inputs: [{ name: "who", type: "address", internalType: "address" }],
    outputs: [{ name: "", type: "bool", internalType: "bool" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "isSealed",
    inputs: [],
    outputs: [{ name: "", type: "bool", internalType: "bool" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "owner",
    inputs: [],
    outputs: [{ name: "", type: "address", internalType: "address" }],
    stateMutability: "view",
  },
  { type: "function", name: "pause", inputs: [], outputs: [], stateMutability: "nonpayable" },
  {
    type: "function",
    name: "paused",
    inputs: [],
    outputs: [{ name: "", type: "bool", internalType: "bool" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "pendingOwner",
    inputs: [],
    outputs: [{ name: "", type: "address", internalType: "address" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "predict",
    inputs: [
      {
        name: "c",
        type: "tuple",
        internalType: "struct Commitment",
        components: [
          { name: "integrator", type: "bytes32", internalType: "bytes32" },
          { name: "userId", type: "bytes32", internalType: "bytes32" },
          { name: "destChain", type: "uint16", internalType: "uint16" },
          { name: "destWallet", type: "bytes32", internalType: "bytes32" },
          { name: "destToken", type: "bytes32", internalType: "bytes32" },
          { name: "refundAuthority", type: "bytes32", internalType: "bytes32" },
          { name: "maxFeeBps", type: "uint16", internalType: "uint16" },
          { name: "maxSlippageBps", type: "uint16", internalType: "uint16" },
        ],
      },
    ],
    outputs: [{ name: "", type: "address", internalType: "address" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "refund",
    inputs: [
      {
        name: "c",
        type: "tuple",
        internalType: "struct Commitment",
        components: [
          { name: "integrator", type: "bytes32", internalType: "bytes32" },
          { name: "userId", type: "bytes32", internalType: "bytes32" },
          { name: "destChain", type: "uint16", internalType: "uint16" },
          { name: "destWallet", type: "bytes32", internalType: "bytes32" },
          { name: "destToken", type: "bytes32", internalType: "bytes32" },
          { name: "refundAuthority", type: "bytes32", internalType: "bytes32" },
          { name: "maxFeeBps", type: "uint16", internalType: "uint16" },
          { name: "maxSlippageBps", type: "uint16", internalType: "uint16" },
        ],
      },
      { name: "token", type: "address", internalType: "address" },
    ],
    outputs: [{ name: "", type: "uint256", internalType: "uint256" }],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "refundBySignature",
    inputs: [
      {
        name: "c",
        type: "tuple",
        internalType: "struct Commitment",
        components: [
          { name: "integrator", type: "bytes32", internalType: "bytes32" },
          { name: "userId", type: "bytes32", internalType: "bytes32" },
          { name: "destChain", type: "uint16", internalType: "uint16" },
          { name: "destWallet", type: "bytes32", internalType: "bytes32" },
          { name: "destToken", type: "bytes32", internalType: "bytes32" },
          { name: "refundAuthority", type: "bytes32", internalType: "bytes32" },
          { name: "maxFeeBps", type: "uint16", internalType: "uint16" },
          { name: "maxSlippageBps", type: "uint16", internalType: "uint16" },
        ],
      },
      { name: "token", type: "address", internalType: "address" },
      { name: "deadline", type: "uint256", internalType: "uint256" },
      { name: "signature", type: "bytes", internalType: "bytes" },
    ],
    outputs: [{ name: "", type: "uint256", internalType: "uint256" }],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "remove",
    inputs: [
      { name: "role", type: "bytes32", internalType: "bytes32" },
      { name: "who", type: "address", internalType: "address" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "schedule",
    inputs: [
      { name: "role", type: "bytes32", internalType: "bytes32" },
      { name: "who", type: "address", internalType: "address" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "seal",
    inputs: [
      { name: "routes", type: "address[]", internalType: "address[]" },
      { name: "relayers", type: "address[]", internalType: "address[]" },
      { name: "attestors", type: "address[]", internalType: "address[]" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "setRelayer",
    inputs: [
      { name: "relayer", type: "address", internalType: "address" },
      { name: "on", type: "bool", internalType: "bool" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "settle",
    inputs: [
      {
        name: "job",
        type: "tuple",
        internalType: "struct IDepositFactory.Job",
        components: [
          {
            name: "c",
            type: "tuple",
            internalType: "struct Commitment",
            components: [
              { name: "integrator", type: "bytes32", internalType: "bytes32" },
              { name: "userId", type: "bytes32", internalType: "bytes32" },
              { name: "destChain", type: "uint16", internalType: "uint16" },
              { name: "destWallet", type: "bytes32", internalType: "bytes32" },
              { name: "destToken", type: "bytes32", internalType: "bytes32" },
              { name: "refundAuthority", type: "bytes32", internalType: "bytes32" },
              { name: "maxFeeBps", type: "uint16", internalType: "uint16" },
              { name: "maxSlippageBps", type: "uint16", internalType: "uint16" },
            ],
          },
          { name: "token", type: "address", internalType: "address" },
          { name: "route", type: "address", internalType: "address" },
          { name: "data", type: "bytes", internalType: "bytes" },
        ],
      },
    ],
    outputs: [{ name: "", type: "uint256", internalType: "uint256" }],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "settleJob",
    inputs: [
      {
        name: "job",
        type: "tuple",
        internalType: "struct IDepositFactory.Job",
        components: [
          {
            name: "c",
            type: "tuple",
            internalType: "struct Commitment",
            components: [
              { name: "integrator", type: "bytes32", internalType: "bytes32" },
              { name: "userId", type: "bytes32", internalType: "bytes32" },
              { name: "destChain", type: "uint16", internalType: "uint16" },
              { name: "destWallet", type: "bytes32", internalType: "bytes32" },
              { name: "destToken", type: "bytes32", internalType: "bytes32" },
              { name: "refundAuthority", type: "bytes32", internalType: "bytes32" },
              { name: "maxFeeBps", type: "uint16", internalType: "uint16" },
              { name: "maxSlippageBps", type: "uint16", internalType: "uint16" },
            ],
          },
          { name: "token", type: "address", internalType: "address" },
          { name: "route", type: "address", internalType: "address" },
          { name: "data", type: "bytes", internalType: "bytes" },
        ],
      },
    ],
    outputs: [{ name: "", type: "uint256", internalType: "uint256" }],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "settleMany",
    inputs: [
      {
        name: "jobs",
        type: "tuple[]",
        internalType: "struct IDepositFactory.Job[]",
        components: [
          {
            name: "c",
            type: "tuple",
            internalType: "struct Commitment",
            components: [
              { name: "integrator", type: "bytes32", internalType: "bytes32" },
              { name: "userId", type: "bytes32", internalType: "bytes32" },
              { name: "destChain", type: "uint16", internalType: "uint16" },
              { name: "destWallet", type: "bytes32", internalType: "bytes32" },
              { name: "destToken", type: "bytes32", internalType: "bytes32" },
              { name: "refundAuthority", type: "bytes32", internalType: "bytes32" },
              { name: "maxFeeBps", type: "uint16", internalType: "uint16" },
              { name: "maxSlippageBps", type: "uint16", internalType: "uint16" },
            ],
          },
          { name: "token", type: "address", internalType: "address" },
          { name: "route", type: "address", internalType: "address" },
          { name: "data", type: "bytes", internalType: "bytes" },
        ],
      },
      { name: "gasPerJob", type: "uint256", internalType: "uint256" },
    ],
    outputs: [{ name: "done", type: "uint256", internalType: "uint256" }],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "transferOwnership",
    inputs: [{ name: "newOwner", type: "address", internalType: "address" }],
    outputs: [],
    stateMutability: "nonpayable",
  },
  { type: "function", name: "unpause", inputs: [], outputs: [], stateMutability: "nonpayable" },
  {
    type: "function",
    name: "wasAttestor",
    inputs: [
      { name: "who", type: "address", internalType: "address" },
      { name: "time", type: "uint256", internalType: "uint256" },
    ],
    outputs: [{ name: "", type: "bool", internalType: "bool" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "wasRelayer",
    inputs: [
      { name: "who", type: "address", internalType: "address" },
      { name: "time", type: "uint256", internalType: "uint256" },
    ],
    outputs: [{ name: "", type: "bool", internalType: "bool" }],
    stateMutability: "view",
  },
  {
    type: "event",
    name: "Cancelled",
    inputs: [
      { name: "role", type: "bytes32", indexed: true, internalType: "bytes32" },
      { name: "who", type: "address", indexed: true, internalType: "address" },
    ],
    anonymous: false,
  },
  {
    type: "event",
    name: "JobFailed",
    inputs: [
      { name: "index", type: "uint256", indexed: false, internalType: "uint256" },
      { name: "wallet", type: "address", indexed: true, internalType: "address" },
      { name: "reason", type: "bytes", indexed: false, internalType: "bytes" },
    ],
    anonymous: false,
  },
  {
    type: "event",
    name: "OwnershipTransferStarted",
    inputs: [
      { name: "owner", type: "address", indexed: true, internalType: "address" },
      { name: "pendingOwner", type: "address", indexed: true, internalType: "address" },
    ],
    anonymous: false,
  },
  {
    type: "event",
    name: "OwnershipTransferred",
    inputs: [
      { name: "previousOwner", type: "address", indexed: true, internalType: "address" },
      { name: "owner", type: "address", indexed: true, internalType: "address" },
    ],
    anonymous: false,
  },
  {
    type: "event",
    name: "Paused",
    inputs: [{ name: "by", type: "address", indexed: true, internalType: "address" }],
    anonymous: false,
  },
  {
    type: "event",
    name: "Refunded",
    inputs: [
      { name: "wallet", type: "address", indexed: true, internalType: "address" },
      { name: "token", type: "address", indexed: true, internalType: "address" },
      { name: "to", type: "address", indexed: true, internalType: "address" },
      { name: "amount", type: "uint256", indexed: false, internalType: "uint256" },
    ],
    anonymous: false,
  },
  {
    type: "event",
    name: "RelayerSet",
    inputs: [
      { name: "relayer", type: "address", indexed: true, internalType: "address" },
      { name: "on", type: "bool", indexed: false, internalType: "bool" },
    ],
    anonymous: false,
  },
  {
    type: "event",
    name: "RoleGranted",
    inputs: [
      { name: "role", type: "bytes32", indexed: true, internalType: "bytes32" },
      { name: "who", type: "address", indexed: true, internalType: "address" },
    ],
    anonymous: false,
  },
  {
    type: "event",
    name: "RoleRevoked",
    inputs: [
      { name: "role", type: "bytes32", indexed: true, internalType: "bytes32" },
      { name: "who", type: "address", indexed: true, internalType: "address" },
    ],
    anonymous: false,
  },
  {
    type: "event",
    name: "Scheduled",
    inputs: [
      { name: "role", type: "bytes32", indexed: true, internalType: "bytes32" },
      { name: "who", type: "address", indexed: true, internalType: "address" },
      { name: "eta", type: "uint256", indexed: false, internalType: "uint256" },
    ],
    anonymous: false,
  },
  { type: "event", name: "Sealed", inputs: [], anonymous: false },
  {
    type: "event",
    name: "Settled",
    inputs: [
      { name: "wallet", type: "address", indexed: true, internalType: "address" },
      { name: "token", type: "address", indexed: true, internalType: "address" },
      { name: "route", type: "address", indexed: true, internalType: "address" },
      { name: "amount", type: "uint256", indexed: false, internalType: "uint256" },
    ],
    anonymous: false,
  },
  {
    type: "event",
    name: "Unpaused",
    inputs: [{ name: "by", type: "address", indexed: true, internalType: "address" }],
    anonymous: false,
  },
  {
    type: "event",
    name: "WalletDeployed",
    inputs: [
      { name: "wallet", type: "address", indexed: true, internalType: "address" },
      { name: "commitment", type: "bytes32", indexed: true, internalType: "bytes32" },
    ],
    anonymous: false,
  },
  {
    type: "error",
    name: "AlreadyMember",
    inputs: [
      { name: "role", type: "bytes32", internalType: "bytes32" },
      { name: "who", type: "address", internalType: "address" },
    ],
  },
  {
    type: "error",
    name: "AlreadyScheduled",
    inputs: [
      { name: "role", type: "bytes32", internalType: "bytes32" },
      { name: "who", type: "address", internalType: "address" },
    ],
  },
  { type: "error", name: "AlreadySealed", inputs: [] },
  { type: "error", name: "Create2EmptyBytecode", inputs: [] },
  {
    type: "error",
    name: "DeadlineTooFar",
    inputs: [
      { name: "deadline", type: "uint256", internalType: "uint256" },
      { name: "latest", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "Expired",
    inputs: [
      { name: "deadline", type: "uint256", internalType: "uint256" },
      { name: "timestamp", type: "uint256", internalType: "uint256" },
    ],
  },
  { type: "error", name: "FailedDeployment", inputs: [] },
  {
    type: "error",
    name: "InsufficientBalance",
    inputs: [
      { name: "balance", type: "uint256", internalType: "uint256" },
      { name: "needed", type: "uint256", internalType: "uint256" },
    ],
  },
  { type: "error", name: "IsPaused", inputs: [] },
  {
    type: "error",
    name: "Leftover",
    inputs: [
      { name: "wallet", type: "address", internalType: "address" },
      { name: "token", type: "address", internalType: "address" },
      { name: "balance", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "NeedGas",
    inputs: [
      { name: "available", type: "uint256", internalType: "uint256" },
      { name: "needed", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "NoCode",
    inputs: [{ name: "route", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "NotAnAddress",
    inputs: [{ name: "value", type: "bytes32", internalType: "bytes32" }],
  },
  {
    type: "error",
    name: "NotAttestor",
    inputs: [{ name: "signer", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "NotGuardian",
    inputs: [{ name: "caller", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "NotMember",
    inputs: [
      { name: "role", type: "bytes32", internalType: "bytes32" },
      { name: "who", type: "address", internalType: "address" },
    ],
  },
  {
    type: "error",
    name: "NotOwner",
    inputs: [{ name: "caller", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "NotOwnerOrGuardian",
    inputs: [{ name: "caller", type: "address", internalType: "address" }],
  },
  { type: "error", name: "NotPaused", inputs: [] },
  {
    type: "error",
    name: "NotPendingOwner",
    inputs: [{ name: "caller", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "NotRefundAuthority",
    inputs: [
      { name: "caller", type: "address", internalType: "address" },
      { name: "refundAuthority", type: "bytes32", internalType: "bytes32" },
    ],
  },
  {
    type: "error",
    name: "NotRelayer",
    inputs: [{ name: "caller", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "NotRoute",
    inputs: [{ name: "route", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "NotScheduled",
    inputs: [
      { name: "role", type: "bytes32", internalType: "bytes32" },
      { name: "who", type: "address", internalType: "address" },
    ],
  },
  { type: "error", name: "NotSealed", inputs: [] },
  {
    type: "error",
    name: "NotSelf",
    inputs: [{ name: "caller", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "Nothing",
    inputs: [
      { name: "wallet", type: "address", internalType: "address" },
      { name: "token", type: "address", internalType: "address" },
    ],
  },
  { type: "error", name: "ReentrancyGuardReentrantCall", inputs: [] },
  {
    type: "error",
    name: "TooEarly",
    inputs: [
      { name: "eta", type: "uint256", internalType: "uint256" },
      { name: "timestamp", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "UnknownRole",
    inputs: [{ name: "role", type: "bytes32", internalType: "bytes32" }],
  },
  { type: "error", name: "ZeroAddress", inputs: [] },
] as const;

export const depositWalletAbi = [
  {
    type: "function",
    name: "refund",
    inputs: [
      { name: "token", type: "address", internalType: "address" },
      { name: "to", type: "address", internalType: "address" },
    ],
    outputs: [{ name: "amount", type: "uint256", internalType: "uint256" }],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "run",
    inputs: [
      { name: "route", type: "address", internalType: "address" },
      {
        name: "c",
        type: "tuple",
        internalType: "struct Commitment",
        components: [
          { name: "integrator", type: "bytes32", internalType: "bytes32" },
          { name: "userId", type: "bytes32", internalType: "bytes32" },
          { name: "destChain", type: "uint16", internalType: "uint16" },
          { name: "destWallet", type: "bytes32", internalType: "bytes32" },
          { name: "destToken", type: "bytes32", internalType: "bytes32" },
          { name: "refundAuthority", type: "bytes32", internalType: "bytes32" },
          { name: "maxFeeBps", type: "uint16", internalType: "uint16" },
          { name: "maxSlippageBps", type: "uint16", internalType: "uint16" },
        ],
      },
      { name: "token", type: "address", internalType: "address" },
      { name: "data", type: "bytes", internalType: "bytes" },
    ],
    outputs: [{ name: "amount", type: "uint256", internalType: "uint256" }],
    stateMutability: "nonpayable",
  },
  {
    type: "error",
    name: "AddressEmptyCode",
    inputs: [{ name: "target", type: "address", internalType: "address" }],
  },
  { type: "error", name: "FailedCall", inputs: [] },
  {
    type: "error",
    name: "InsufficientBalance",
    inputs: [
      { name: "balance", type: "uint256", internalType: "uint256" },
      { name: "needed", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "NotFactory",
    inputs: [{ name: "caller", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "SafeERC20FailedOperation",
    inputs: [{ name: "token", type: "address", internalType: "address" }],
  },
] as const;

export const transferRouteAbi = [
  {
    type: "constructor",
    inputs: [
      {
        name: "config_",
        type: "tuple",
        internalType: "struct ITransferRoute.Config",
        components: [
          { name: "evmChainId", type: "uint256", internalType: "uint256" },
          { name: "bridgeId", type: "uint16", internalType: "uint16" },
          { name: "token", type: "address", internalType: "address" },
          { name: "feeRecipient", type: "address", internalType: "address" },
        ],
      },
    ],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "config",
    inputs: [],
    outputs: [
      {
        name: "",
        type: "tuple",
        internalType: "struct ITransferRoute.Config",
        components: [
          { name: "evmChainId", type: "uint256", internalType: "uint256" },
          { name: "bridgeId", type: "uint16", internalType: "uint16" },
          { name: "token", type: "address", internalType: "address" },
          { name: "feeRecipient", type: "address", internalType: "address" },
        ],
      },
    ],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "deliver",
    inputs: [
      {
        name: "c",
        type: "tuple",
        internalType: "struct Commitment",
        components: [
          { name: "integrator", type: "bytes32", internalType: "bytes32" },
          { name: "userId", type: "bytes32", internalType: "bytes32" },
          { name: "destChain", type: "uint16", internalType: "uint16" },
          { name: "destWallet", type: "bytes32", internalType: "bytes32" },
          { name: "destToken", type: "bytes32", internalType: "bytes32" },
          { name: "refundAuthority", type: "bytes32", internalType: "bytes32" },
          { name: "maxFeeBps", type: "uint16", internalType: "uint16" },
          { name: "maxSlippageBps", type: "uint16", internalType: "uint16" },
        ],
      },
      { name: "token", type: "address", internalType: "address" },
      { name: "amount", type: "uint256", internalType: "uint256" },
      { name: "data", type: "bytes", internalType: "bytes" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "event",
    name: "Transferred",
    inputs: [
      { name: "wallet", type: "address", indexed: true, internalType: "address" },
      { name: "to", type: "address", indexed: true, internalType: "address" },
      { name: "token", type: "address", indexed: false, internalType: "address" },
      { name: "amount", type: "uint256", indexed: false, internalType: "uint256" },
      { name: "fee", type: "uint256", indexed: false, internalType: "uint256" },
    ],
    anonymous: false,
  },
  { type: "error", name: "FailedCall", inputs: [] },
  {
    type: "error",
    name: "FeeAboveCap",
    inputs: [
      { name: "fee", type: "uint256", internalType: "uint256" },
      { name: "cap", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "InsufficientBalance",
    inputs: [
      { name: "balance", type: "uint256", internalType: "uint256" },
      { name: "needed", type: "uint256", internalType: "uint256" },
    ],
  },
  { type: "error", name: "InvalidConfig", inputs: [] },
  {
    type: "error",
    name: "InvalidData",
    inputs: [{ name: "length", type: "uint256", internalType: "uint256" }],
  },
  {
    type: "error",
    name: "NotAnAddress",
    inputs: [{ name: "value", type: "bytes32", internalType: "bytes32" }],
  },
  {
    type: "error",
    name: "ReceivedLess",
    inputs: [
      { name: "received", type: "uint256", internalType: "uint256" },
      { name: "least", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "SafeERC20FailedOperation",
    inputs: [{ name: "token", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "WrongDestChain",
    inputs: [
      { name: "destChain", type: "uint16", internalType: "uint16" },
      { name: "expected", type: "uint16", internalType: "uint16" },
    ],
  },
  {
    type: "error",
    name: "WrongDestToken",
    inputs: [
      { name: "destToken", type: "bytes32", internalType: "bytes32" },
      { name: "expected", type: "bytes32", internalType: "bytes32" },
    ],
  },
  {
    type: "error",
    name: "WrongEvmChain",
    inputs: [
      { name: "chainId", type: "uint256", internalType: "uint256" },
      { name: "expected", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "WrongToken",
    inputs: [
      { name: "token", type: "address", internalType: "address" },
      { name: "expected", type: "address", internalType: "address" },
    ],
  },
] as const;

export const sameAssetRouteAbi = [
  {
    type: "constructor",
    inputs: [
      {
        name: "p",
        type: "tuple",
        internalType: "struct IEscrowRoute.Pair",
        components: [
          { name: "evmChainId", type: "uint256", internalType: "uint256" },
          { name: "sourceChain", type: "uint16", internalType: "uint16" },
          { name: "sourceToken", type: "address", internalType: "address" },
          { name: "sourceDecimals", type: "uint8", internalType: "uint8" },
          { name: "escrow", type: "address", internalType: "address" },
          { name: "destChain", type: "uint16", internalType: "uint16" },
          { name: "destToken", type: "bytes32", internalType: "bytes32" },
          { name: "destDecimals", type: "uint8", internalType: "uint8" },
          { name: "delivery", type: "bytes32", internalType: "bytes32" },
        ],
      },
    ],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "deliver",
    inputs: [
      {
        name: "c",
        type: "tuple",
        internalType: "struct Commitment",
        components: [
          { name: "integrator", type: "bytes32", internalType: "bytes32" },
          { name: "userId", type: "bytes32", internalType: "bytes32" },
          { name: "destChain", type: "uint16", internalType: "uint16" },
          { name: "destWallet", type: "bytes32", internalType: "bytes32" },
          { name: "destToken", type: "bytes32", internalType: "bytes32" },
          { name: "refundAuthority", type: "bytes32", internalType: "bytes32" },
          { name: "maxFeeBps", type: "uint16", internalType: "uint16" },
          { name: "maxSlippageBps", type: "uint16", internalType: "uint16" },
        ],
      },
      { name: "token", type: "address", internalType: "address" },
      { name: "amount", type: "uint256", internalType: "uint256" },
      { name: "data", type: "bytes", internalType: "bytes" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "minOut",
    inputs: [
      { name: "amount", type: "uint256", internalType: "uint256" },
      { name: "maxFeeBps", type: "uint16", internalType: "uint16" },
    ],
    outputs: [{ name: "", type: "uint256", internalType: "uint256" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "pair",
    inputs: [],
    outputs: [
      {
        name: "",
        type: "tuple",
        internalType: "struct IEscrowRoute.Pair",
        components: [
          { name: "evmChainId", type: "uint256", internalType: "uint256" },
          { name: "sourceChain", type: "uint16", internalType: "uint16" },
          { name: "sourceToken", type: "address", internalType: "address" },
          { name: "sourceDecimals", type: "uint8", internalType: "uint8" },
          { name: "escrow", type: "address", internalType: "address" },
          { name: "destChain", type: "uint16", internalType: "uint16" },
          { name: "destToken", type: "bytes32", internalType: "bytes32" },
          { name: "destDecimals", type: "uint8", internalType: "uint8" },
          { name: "delivery", type: "bytes32", internalType: "bytes32" },
        ],
      },
    ],
    stateMutability: "view",
  },
  { type: "error", name: "InvalidConfig", inputs: [] },
  {
    type: "error",
    name: "InvalidData",
    inputs: [{ name: "length", type: "uint256", internalType: "uint256" }],
  },
  {
    type: "error",
    name: "NothingPromised",
    inputs: [
      { name: "amount", type: "uint256", internalType: "uint256" },
      { name: "maxFeeBps", type: "uint16", internalType: "uint16" },
    ],
  },
  {
    type: "error",
    name: "SafeERC20FailedOperation",
    inputs: [{ name: "token", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "WrongDestChain",
    inputs: [
      { name: "destChain", type: "uint16", internalType: "uint16" },
      { name: "expected", type: "uint16", internalType: "uint16" },
    ],
  },
  {
    type: "error",
    name: "WrongDestToken",
    inputs: [
      { name: "destToken", type: "bytes32", internalType: "bytes32" },
      { name: "expected", type: "bytes32", internalType: "bytes32" },
    ],
  },
  {
    type: "error",
    name: "WrongEvmChain",
    inputs: [
      { name: "chainId", type: "uint256", internalType: "uint256" },
      { name: "expected", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "WrongToken",
    inputs: [
      { name: "token", type: "address", internalType: "address" },
      { name: "expected", type: "address", internalType: "address" },
    ],
  },
] as const;

export const pricedRouteAbi = [
  {
    type: "constructor",
    inputs: [
      {
        name: "p",
        type: "tuple",
        internalType: "struct IEscrowRoute.Pair",
        components: [
          { name: "evmChainId", type: "uint256", internalType: "uint256" },
          { name: "sourceChain", type: "uint16", internalType: "uint16" },
          { name: "sourceToken", type: "address", internalType: "address" },
          { name: "sourceDecimals", type: "uint8", internalType: "uint8" },
          { name: "escrow", type: "address", internalType: "address" },
          { name: "destChain", type: "uint16", internalType: "uint16" },
          { name: "destToken", type: "bytes32", internalType: "bytes32" },
          { name: "destDecimals", type: "uint8", internalType: "uint8" },
          { name: "delivery", type: "bytes32", internalType: "bytes32" },
        ],
      },
    ],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "deliver",
    inputs: [
      {
        name: "c",
        type: "tuple",
        internalType: "struct Commitment",
        components: [
          { name: "integrator", type: "bytes32", internalType: "bytes32" },
          { name: "userId", type: "bytes32", internalType: "bytes32" },
          { name: "destChain", type: "uint16", internalType: "uint16" },
          { name: "destWallet", type: "bytes32", internalType: "bytes32" },
          { name: "destToken", type: "bytes32", internalType: "bytes32" },
          { name: "refundAuthority", type: "bytes32", internalType: "bytes32" },
          { name: "maxFeeBps", type: "uint16", internalType: "uint16" },
          { name: "maxSlippageBps", type: "uint16", internalType: "uint16" },
        ],
      },
      { name: "token", type: "address", internalType: "address" },
      { name: "amount", type: "uint256", internalType: "uint256" },
      { name: "data", type: "bytes", internalType: "bytes" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "domainSeparator",
    inputs: [],
    outputs: [{ name: "", type: "bytes32", internalType: "bytes32" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "factory",
    inputs: [],
    outputs: [{ name: "", type: "address", internalType: "address" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "minOut",
    inputs: [
      { name: "amount", type: "uint256", internalType: "uint256" },
      { name: "rate", type: "uint256", internalType: "uint256" },
      { name: "maxSlippageBps", type: "uint16", internalType: "uint16" },
      { name: "maxFeeBps", type: "uint16", internalType: "uint16" },
    ],
    outputs: [{ name: "", type: "uint256", internalType: "uint256" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "pair",
    inputs: [],
    outputs: [
      {
        name: "",
        type: "tuple",
        internalType: "struct IEscrowRoute.Pair",
        components: [
          { name: "evmChainId", type: "uint256", internalType: "uint256" },
          { name: "sourceChain", type: "uint16", internalType: "uint16" },
          { name: "sourceToken", type: "address", internalType: "address" },
          { name: "sourceDecimals", type: "uint8", internalType: "uint8" },
          { name: "escrow", type: "address", internalType: "address" },
          { name: "destChain", type: "uint16", internalType: "uint16" },
          { name: "destToken", type: "bytes32", internalType: "bytes32" },
          { name: "destDecimals", type: "uint8", internalType: "uint8" },
          { name: "delivery", type: "bytes32", internalType: "bytes32" },
        ],
      },
    ],
    stateMutability: "view",
  },
  {
    type: "error",
    name: "AboveMaxAmount",
    inputs: [
      { name: "amount", type: "uint256", internalType: "uint256" },
      { name: "maxAmount", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "DeadlineTooFar",
    inputs: [
      { name: "deadline", type: "uint256", internalType: "uint256" },
      { name: "latest", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "Expired",
    inputs: [
      { name: "deadline", type: "uint256", internalType: "uint256" },
      { name: "timestamp", type: "uint256", internalType: "uint256" },
    ],
  },
  { type: "error", name: "InvalidConfig", inputs: [] },
  {
    type: "error",
    name: "InvalidData",
    inputs: [{ name: "length", type: "uint256", internalType: "uint256" }],
  },
  {
    type: "error",
    name: "NotAttestor",
    inputs: [{ name: "signer", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "NothingPromised",
    inputs: [
      { name: "amount", type: "uint256", internalType: "uint256" },
      { name: "maxFeeBps", type: "uint16", internalType: "uint16" },
    ],
  },
  {
    type: "error",
    name: "RateOutOfBounds",
    inputs: [
      { name: "rate", type: "uint256", internalType: "uint256" },
      { name: "min", type: "uint256", internalType: "uint256" },
      { name: "max", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "SafeERC20FailedOperation",
    inputs: [{ name: "token", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "WrongDestChain",
    inputs: [
      { name: "destChain", type: "uint16", internalType: "uint16" },
      { name: "expected", type: "uint16", internalType: "uint16" },
    ],
  },
  {
    type: "error",
    name: "WrongDestToken",
    inputs: [
      { name: "destToken", type: "bytes32", internalType: "bytes32" },
      { name: "expected", type: "bytes32", internalType: "bytes32" },
    ],
  },
  {
    type: "error",
    name: "WrongEvmChain",
    inputs: [
      { name: "chainId", type: "uint256", internalType: "uint256" },
      { name: "expected", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "WrongToken",
    inputs: [
      { name: "token", type: "address", internalType: "address" },
      { name: "expected", type: "address", internalType: "address" },
    ],
  },
] as const;

export const cctpRouteAbi = [
  {
    type: "constructor",
    inputs: [
      {
        name: "config_",
        type: "tuple",
        internalType: "struct ICctpRoute.Config",
        components: [
          { name: "evmChainId", type: "uint256", internalType: "uint256" },
          { name: "token", type: "address", internalType: "address" },
          { name: "messenger", type: "address", internalType: "address" },
          { name: "destChain", type: "uint16", internalType: "uint16" },
          { name: "destToken", type: "bytes32", internalType: "bytes32" },
          { name: "destDomain", type: "uint32", internalType: "uint32" },
          { name: "feeRecipient", type: "address", internalType: "address" },
        ],
      },
    ],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "config",
    inputs: [],
    outputs: [
      {
        name: "",
        type: "tuple",
        internalType: "struct ICctpRoute.Config",
        components: [
          { name: "evmChainId", type: "uint256", internalType: "uint256" },
          { name: "token", type: "address", internalType: "address" },
          { name: "messenger", type: "address", internalType: "address" },
          { name: "destChain", type: "uint16", internalType: "uint16" },
          { name: "destToken", type: "bytes32", internalType: "bytes32" },
          { name: "destDomain", type: "uint32", internalType: "uint32" },
          { name: "feeRecipient", type: "address", internalType: "address" },
        ],
      },
    ],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "deliver",
    inputs: [
      {
        name: "c",
        type: "tuple",
        internalType: "struct Commitment",
        components: [
          { name: "integrator", type: "bytes32", internalType: "bytes32" },
          { name: "userId", type: "bytes32", internalType: "bytes32" },
          { name: "destChain", type: "uint16", internalType: "uint16" },
          { name: "destWallet", type: "bytes32", internalType: "bytes32" },
          { name: "destToken", type: "bytes32", internalType: "bytes32" },
          { name: "refundAuthority", type: "bytes32", internalType: "bytes32" },
          { name: "maxFeeBps", type: "uint16", internalType: "uint16" },
          { name: "maxSlippageBps", type: "uint16", internalType: "uint16" },
        ],
      },
      { name: "token", type: "address", internalType: "address" },
      { name: "amount", type: "uint256", internalType: "uint256" },
      { name: "data", type: "bytes", internalType: "bytes" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "event",
    name: "Burned",
    inputs: [
      { name: "wallet", type: "address", indexed: true, internalType: "address" },
      { name: "token", type: "address", indexed: false, internalType: "address" },
      { name: "amount", type: "uint256", indexed: false, internalType: "uint256" },
      { name: "fee", type: "uint256", indexed: false, internalType: "uint256" },
      { name: "maxFee", type: "uint256", indexed: false, internalType: "uint256" },
      { name: "destDomain", type: "uint32", indexed: false, internalType: "uint32" },
      { name: "recipient", type: "bytes32", indexed: false, internalType: "bytes32" },
    ],
    anonymous: false,
  },
  {
    type: "error",
    name: "BurnedOther",
    inputs: [
      { name: "burned", type: "uint256", internalType: "uint256" },
      { name: "amount", type: "uint256", internalType: "uint256" },
    ],
  },
  { type: "error", name: "FailedCall", inputs: [] },
  {
    type: "error",
    name: "FeeAboveCap",
    inputs: [
      { name: "fee", type: "uint256", internalType: "uint256" },
      { name: "cap", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "InsufficientBalance",
    inputs: [
      { name: "balance", type: "uint256", internalType: "uint256" },
      { name: "needed", type: "uint256", internalType: "uint256" },
    ],
  },
  { type: "error", name: "InvalidConfig", inputs: [] },
  {
    type: "error",
    name: "InvalidData",
    inputs: [{ name: "length", type: "uint256", internalType: "uint256" }],
  },
  {
    type: "error",
    name: "InvalidFinality",
    inputs: [{ name: "threshold", type: "uint32", internalType: "uint32" }],
  },
  {
    type: "error",
    name: "NotAnAddress",
    inputs: [{ name: "value", type: "bytes32", internalType: "bytes32" }],
  },
  {
    type: "error",
    name: "ReceivedLess",
    inputs: [
      { name: "received", type: "uint256", internalType: "uint256" },
      { name: "least", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "SafeERC20FailedOperation",
    inputs: [{ name: "token", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "WrongDestChain",
    inputs: [
      { name: "destChain", type: "uint16", internalType: "uint16" },
      { name: "expected", type: "uint16", internalType: "uint16" },
    ],
  },
  {
    type: "error",
    name: "WrongDestToken",
    inputs: [
      { name: "destToken", type: "bytes32", internalType: "bytes32" },
      { name: "expected", type: "bytes32", internalType: "bytes32" },
    ],
  },
  {
    type: "error",
    name: "WrongEvmChain",
    inputs: [
      { name: "chainId", type: "uint256", internalType: "uint256" },
      { name: "expected", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "WrongToken",
    inputs: [
      { name: "token", type: "address", internalType: "address" },
      { name: "expected", type: "address", internalType: "address" },
    ],
  },
] as const;

export const swapRouteAbi = [
  {
    type: "constructor",
    inputs: [
      {
        name: "config_",
        type: "tuple",
        internalType: "struct ISwapRoute.Config",
        components: [
          { name: "evmChainId", type: "uint256", internalType: "uint256" },
          { name: "bridgeId", type: "uint16", internalType: "uint16" },
          { name: "factory", type: "address", internalType: "address" },
          { name: "router", type: "address", internalType: "address" },
          { name: "weth", type: "address", internalType: "address" },
          { name: "tokenIn", type: "address", internalType: "address" },
          { name: "decimalsIn", type: "uint8", internalType: "uint8" },
          { name: "tokenOut", type: "address", internalType: "address" },
          { name: "decimalsOut", type: "uint8", internalType: "uint8" },
          { name: "poolFee", type: "uint24", internalType: "uint24" },
          { name: "feeRecipient", type: "address", internalType: "address" },
        ],
      },
    ],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "config",
    inputs: [],
    outputs: [
      {
        name: "",
        type: "tuple",
        internalType: "struct ISwapRoute.Config",
        components: [
          { name: "evmChainId", type: "uint256", internalType: "uint256" },
          { name: "bridgeId", type: "uint16", internalType: "uint16" },
          { name: "factory", type: "address", internalType: "address" },
          { name: "router", type: "address", internalType: "address" },
          { name: "weth", type: "address", internalType: "address" },
          { name: "tokenIn", type: "address", internalType: "address" },
          { name: "decimalsIn", type: "uint8", internalType: "uint8" },
          { name: "tokenOut", type: "address", internalType: "address" },
          { name: "decimalsOut", type: "uint8", internalType: "uint8" },
          { name: "poolFee", type: "uint24", internalType: "uint24" },
          { name: "feeRecipient", type: "address", internalType: "address" },
        ],
      },
    ],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "deliver",
    inputs: [
      {
        name: "c",
        type: "tuple",
        internalType: "struct Commitment",
        components: [
          { name: "integrator", type: "bytes32", internalType: "bytes32" },
          { name: "userId", type: "bytes32", internalType: "bytes32" },
          { name: "destChain", type: "uint16", internalType: "uint16" },
          { name: "destWallet", type: "bytes32", internalType: "bytes32" },
          { name: "destToken", type: "bytes32", internalType: "bytes32" },
          { name: "refundAuthority", type: "bytes32", internalType: "bytes32" },
          { name: "maxFeeBps", type: "uint16", internalType: "uint16" },
          { name: "maxSlippageBps", type: "uint16", internalType: "uint16" },
        ],
      },
      { name: "token", type: "address", internalType: "address" },
      { name: "amount", type: "uint256", internalType: "uint256" },
      { name: "data", type: "bytes", internalType: "bytes" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "domainSeparator",
    inputs: [],
    outputs: [{ name: "", type: "bytes32", internalType: "bytes32" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "factory",
    inputs: [],
    outputs: [{ name: "", type: "address", internalType: "address" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "minOut",
    inputs: [
      { name: "amountIn", type: "uint256", internalType: "uint256" },
      { name: "rate", type: "uint256", internalType: "uint256" },
      { name: "maxSlippageBps", type: "uint16", internalType: "uint16" },
    ],
    outputs: [{ name: "", type: "uint256", internalType: "uint256" }],
    stateMutability: "view",
  },
  {
    type: "event",
    name: "Swapped",
    inputs: [
      { name: "wallet", type: "address", indexed: true, internalType: "address" },
      { name: "to", type: "address", indexed: true, internalType: "address" },
      { name: "tokenIn", type: "address", indexed: false, internalType: "address" },
      { name: "tokenOut", type: "address", indexed: false, internalType: "address" },
      { name: "amountIn", type: "uint256", indexed: false, internalType: "uint256" },
      { name: "amountOut", type: "uint256", indexed: false, internalType: "uint256" },
      { name: "fee", type: "uint256", indexed: false, internalType: "uint256" },
    ],
    anonymous: false,
  },
  {
    type: "error",
    name: "AboveMaxAmount",
    inputs: [
      { name: "amount", type: "uint256", internalType: "uint256" },
      { name: "maxAmount", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "DeadlineTooFar",
    inputs: [
      { name: "deadline", type: "uint256", internalType: "uint256" },
      { name: "latest", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "Expired",
    inputs: [
      { name: "deadline", type: "uint256", internalType: "uint256" },
      { name: "timestamp", type: "uint256", internalType: "uint256" },
    ],
  },
  { type: "error", name: "FailedCall", inputs: [] },
  {
    type: "error",
    name: "FeeAboveCap",
    inputs: [
      { name: "fee", type: "uint256", internalType: "uint256" },
      { name: "cap", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "InsufficientBalance",
    inputs: [
      { name: "balance", type: "uint256", internalType: "uint256" },
      { name: "needed", type: "uint256", internalType: "uint256" },
    ],
  },
  { type: "error", name: "InvalidConfig", inputs: [] },
  {
    type: "error",
    name: "InvalidData",
    inputs: [{ name: "length", type: "uint256", internalType: "uint256" }],
  },
  {
    type: "error",
    name: "NoMinimum",
    inputs: [
      { name: "amountIn", type: "uint256", internalType: "uint256" },
      { name: "maxSlippageBps", type: "uint16", internalType: "uint16" },
    ],
  },
  {
    type: "error",
    name: "NotAnAddress",
    inputs: [{ name: "value", type: "bytes32", internalType: "bytes32" }],
  },
  {
    type: "error",
    name: "NotAttestor",
    inputs: [{ name: "signer", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "NotSpent",
    inputs: [{ name: "left", type: "uint256", internalType: "uint256" }],
  },
  {
    type: "error",
    name: "ReceivedLess",
    inputs: [
      { name: "received", type: "uint256", internalType: "uint256" },
      { name: "least", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "SafeERC20FailedOperation",
    inputs: [{ name: "token", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "SpecialRecipient",
    inputs: [{ name: "to", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "WrongDestChain",
    inputs: [
      { name: "destChain", type: "uint16", internalType: "uint16" },
      { name: "expected", type: "uint16", internalType: "uint16" },
    ],
  },
  {
    type: "error",
    name: "WrongDestToken",
    inputs: [
      { name: "destToken", type: "bytes32", internalType: "bytes32" },
      { name: "expected", type: "bytes32", internalType: "bytes32" },
    ],
  },
  {
    type: "error",
    name: "WrongEvmChain",
    inputs: [
      { name: "chainId", type: "uint256", internalType: "uint256" },
      { name: "expected", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "WrongToken",
    inputs: [
      { name: "token", type: "address", internalType: "address" },
      { name: "expected", type: "address", internalType: "address" },
    ],
  },
] as const;

export const swapCctpRouteAbi = [
  {
    type: "constructor",
    inputs: [
      {
        name: "config_",
        type: "tuple",
        internalType: "struct ISwapCctpRoute.Config",
        components: [
          { name: "evmChainId", type: "uint256", internalType: "uint256" },
          { name: "factory", type: "address", internalType: "address" },
          { name: "router", type: "address", internalType: "address" },
          { name: "weth", type: "address", internalType: "address" },
          { name: "tokenIn", type: "address", internalType: "address" },
          { name: "decimalsIn", type: "uint8", internalType: "uint8" },
          { name: "usdc", type: "address", internalType: "address" },
          { name: "usdcDecimals", type: "uint8", internalType: "uint8" },
          { name: "poolFee", type: "uint24", internalType: "uint24" },
          { name: "messenger", type: "address", internalType: "address" },
          { name: "destChain", type: "uint16", internalType: "uint16" },
          { name: "destToken", type: "bytes32", internalType: "bytes32" },
          { name: "destDomain", type: "uint32", internalType: "uint32" },
          { name: "feeRecipient", type: "address", internalType: "address" },
        ],
      },
    ],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "config",
    inputs: [],
    outputs: [
      {
        name: "",
        type: "tuple",
        internalType: "struct ISwapCctpRoute.Config",
        components: [
          { name: "evmChainId", type: "uint256", internalType: "uint256" },
          { name: "factory", type: "address", internalType: "address" },
          { name: "router", type: "address", internalType: "address" },
          { name: "weth", type: "address", internalType: "address" },
          { name: "tokenIn", type: "address", internalType: "address" },
          { name: "decimalsIn", type: "uint8", internalType: "uint8" },
          { name: "usdc", type: "address", internalType: "address" },
          { name: "usdcDecimals", type: "uint8", internalType: "uint8" },
          { name: "poolFee", type: "uint24", internalType: "uint24" },
          { name: "messenger", type: "address", internalType: "address" },
          { name: "destChain", type: "uint16", internalType: "uint16" },
          { name: "destToken", type: "bytes32", internalType: "bytes32" },
          { name: "destDomain", type: "uint32", internalType: "uint32" },
          { name: "feeRecipient", type: "address", internalType: "address" },
        ],
      },
    ],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "deliver",
    inputs: [
      {
        name: "c",
        type: "tuple",
        internalType: "struct Commitment",
        components: [
          { name: "integrator", type: "bytes32", internalType: "bytes32" },
          { name: "userId", type: "bytes32", internalType: "bytes32" },
          { name: "destChain", type: "uint16", internalType: "uint16" },
          { name: "destWallet", type: "bytes32", internalType: "bytes32" },
          { name: "destToken", type: "bytes32", internalType: "bytes32" },
          { name: "refundAuthority", type: "bytes32", internalType: "bytes32" },
          { name: "maxFeeBps", type: "uint16", internalType: "uint16" },
          { name: "maxSlippageBps", type: "uint16", internalType: "uint16" },
        ],
      },
      { name: "token", type: "address", internalType: "address" },
      { name: "amount", type: "uint256", internalType: "uint256" },
      { name: "data", type: "bytes", internalType: "bytes" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "domainSeparator",
    inputs: [],
    outputs: [{ name: "", type: "bytes32", internalType: "bytes32" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "factory",
    inputs: [],
    outputs: [{ name: "", type: "address", internalType: "address" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "minOut",
    inputs: [
      { name: "amountIn", type: "uint256", internalType: "uint256" },
      { name: "rate", type: "uint256", internalType: "uint256" },
      { name: "maxSlippageBps", type: "uint16", internalType: "uint16" },
    ],
    outputs: [{ name: "", type: "uint256", internalType: "uint256" }],
    stateMutability: "view",
  },
  {
    type: "event",
    name: "Burned",
    inputs: [
      { name: "wallet", type: "address", indexed: true, internalType: "address" },
      { name: "token", type: "address", indexed: false, internalType: "address" },
      { name: "amount", type: "uint256", indexed: false, internalType: "uint256" },
      { name: "fee", type: "uint256", indexed: false, internalType: "uint256" },
      { name: "maxFee", type: "uint256", indexed: false, internalType: "uint256" },
      { name: "destDomain", type: "uint32", indexed: false, internalType: "uint32" },
      { name: "recipient", type: "bytes32", indexed: false, internalType: "bytes32" },
    ],
    anonymous: false,
  },
  {
    type: "event",
    name: "Swapped",
    inputs: [
      { name: "wallet", type: "address", indexed: true, internalType: "address" },
      { name: "to", type: "address", indexed: true, internalType: "address" },
      { name: "tokenIn", type: "address", indexed: false, internalType: "address" },
      { name: "tokenOut", type: "address", indexed: false, internalType: "address" },
      { name: "amountIn", type: "uint256", indexed: false, internalType: "uint256" },
      { name: "amountOut", type: "uint256", indexed: false, internalType: "uint256" },
      { name: "fee", type: "uint256", indexed: false, internalType: "uint256" },
    ],
    anonymous: false,
  },
  {
    type: "error",
    name: "AboveMaxAmount",
    inputs: [
      { name: "amount", type: "uint256", internalType: "uint256" },
      { name: "maxAmount", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "BurnedOther",
    inputs: [
      { name: "burned", type: "uint256", internalType: "uint256" },
      { name: "amount", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "DeadlineTooFar",
    inputs: [
      { name: "deadline", type: "uint256", internalType: "uint256" },
      { name: "latest", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "Expired",
    inputs: [
      { name: "deadline", type: "uint256", internalType: "uint256" },
      { name: "timestamp", type: "uint256", internalType: "uint256" },
    ],
  },
  { type: "error", name: "FailedCall", inputs: [] },
  {
    type: "error",
    name: "FeeAboveCap",
    inputs: [
      { name: "fee", type: "uint256", internalType: "uint256" },
      { name: "cap", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "InsufficientBalance",
    inputs: [
      { name: "balance", type: "uint256", internalType: "uint256" },
      { name: "needed", type: "uint256", internalType: "uint256" },
    ],
  },
  { type: "error", name: "InvalidConfig", inputs: [] },
  {
    type: "error",
    name: "InvalidData",
    inputs: [{ name: "length", type: "uint256", internalType: "uint256" }],
  },
  {
    type: "error",
    name: "InvalidFinality",
    inputs: [{ name: "threshold", type: "uint32", internalType: "uint32" }],
  },
  {
    type: "error",
    name: "NoMinimum",
    inputs: [
      { name: "amountIn", type: "uint256", internalType: "uint256" },
      { name: "maxSlippageBps", type: "uint16", internalType: "uint16" },
    ],
  },
  {
    type: "error",
    name: "NotAnAddress",
    inputs: [{ name: "value", type: "bytes32", internalType: "bytes32" }],
  },
  {
    type: "error",
    name: "NotAttestor",
    inputs: [{ name: "signer", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "NotSpent",
    inputs: [{ name: "left", type: "uint256", internalType: "uint256" }],
  },
  {
    type: "error",
    name: "ReceivedLess",
    inputs: [
      { name: "received", type: "uint256", internalType: "uint256" },
      { name: "least", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "SafeERC20FailedOperation",
    inputs: [{ name: "token", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "SpecialRecipient",
    inputs: [{ name: "to", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "WrongDestChain",
    inputs: [
      { name: "destChain", type: "uint16", internalType: "uint16" },
      { name: "expected", type: "uint16", internalType: "uint16" },
    ],
  },
  {
    type: "error",
    name: "WrongDestToken",
    inputs: [
      { name: "destToken", type: "bytes32", internalType: "bytes32" },
      { name: "expected", type: "bytes32", internalType: "bytes32" },
    ],
  },
  {
    type: "error",
    name: "WrongEvmChain",
    inputs: [
      { name: "chainId", type: "uint256", internalType: "uint256" },
      { name: "expected", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "WrongToken",
    inputs: [
      { name: "token", type: "address", internalType: "address" },
      { name: "expected", type: "address", internalType: "address" },
    ],
  },
] as const;

export const escrowAbi = [
  {
    type: "constructor",
    inputs: [
      { name: "factory_", type: "address", internalType: "address" },
      { name: "bridgeId_", type: "uint16", internalType: "uint16" },
      { name: "evmChainId_", type: "uint256", internalType: "uint256" },
      { name: "treasury_", type: "address", internalType: "address" },
    ],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "TAKE_BACK_AFTER",
    inputs: [],
    outputs: [{ name: "", type: "uint256", internalType: "uint256" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "TAKE_BACK_NOTICE",
    inputs: [],
    outputs: [{ name: "", type: "uint256", internalType: "uint256" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "announceTakeBack",
    inputs: [
      {
        name: "c",
        type: "tuple",
        internalType: "struct Commitment",
        components: [
          { name: "integrator", type: "bytes32", internalType: "bytes32" },
          { name: "userId", type: "bytes32", internalType: "bytes32" },
          { name: "destChain", type: "uint16", internalType: "uint16" },
          { name: "destWallet", type: "bytes32", internalType: "bytes32" },
          { name: "destToken", type: "bytes32", internalType: "bytes32" },
          { name: "refundAuthority", type: "bytes32", internalType: "bytes32" },
          { name: "maxFeeBps", type: "uint16", internalType: "uint16" },
          { name: "maxSlippageBps", type: "uint16", internalType: "uint16" },
        ],
      },
      { name: "token", type: "address", internalType: "address" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "bridgeId",
    inputs: [],
    outputs: [{ name: "", type: "uint16", internalType: "uint16" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "cancelTakeBack",
    inputs: [
      {
        name: "c",
        type: "tuple",
        internalType: "struct Commitment",
        components: [
          { name: "integrator", type: "bytes32", internalType: "bytes32" },
          { name: "userId", type: "bytes32", internalType: "bytes32" },
          { name: "destChain", type: "uint16", internalType: "uint16" },
          { name: "destWallet", type: "bytes32", internalType: "bytes32" },
          { name: "destToken", type: "bytes32", internalType: "bytes32" },
          { name: "refundAuthority", type: "bytes32", internalType: "bytes32" },
          { name: "maxFeeBps", type: "uint16", internalType: "uint16" },
          { name: "maxSlippageBps", type: "uint16", internalType: "uint16" },
        ],
      },
      { name: "token", type: "address", internalType: "address" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "claim",
    inputs: [
      { name: "deliveryId", type: "bytes32", internalType: "bytes32" },
      { name: "paidAmount", type: "uint256", internalType: "uint256" },
      { name: "deadline", type: "uint256", internalType: "uint256" },
      { name: "signature", type: "bytes", internalType: "bytes" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "domainSeparator",
    inputs: [],
    outputs: [{ name: "", type: "bytes32", internalType: "bytes32" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "evmChainId",
    inputs: [],
    outputs: [{ name: "", type: "uint256", internalType: "uint256" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "factory",
    inputs: [],
    outputs: [{ name: "", type: "address", internalType: "address" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "lock",
    inputs: [
      {
        name: "c",
        type: "tuple",
        internalType: "struct Commitment",
        components: [
          { name: "integrator", type: "bytes32", internalType: "bytes32" },
          { name: "userId", type: "bytes32", internalType: "bytes32" },
          { name: "destChain", type: "uint16", internalType: "uint16" },
          { name: "destWallet", type: "bytes32", internalType: "bytes32" },
          { name: "destToken", type: "bytes32", internalType: "bytes32" },
          { name: "refundAuthority", type: "bytes32", internalType: "bytes32" },
          { name: "maxFeeBps", type: "uint16", internalType: "uint16" },
          { name: "maxSlippageBps", type: "uint16", internalType: "uint16" },
        ],
      },
      { name: "token", type: "address", internalType: "address" },
      { name: "amount", type: "uint256", internalType: "uint256" },
      { name: "minOut", type: "uint256", internalType: "uint256" },
      { name: "delivery", type: "bytes32", internalType: "bytes32" },
    ],
    outputs: [{ name: "deliveryId", type: "bytes32", internalType: "bytes32" }],
    stateMutability: "payable",
  },
  {
    type: "function",
    name: "lockOf",
    inputs: [{ name: "deliveryId", type: "bytes32", internalType: "bytes32" }],
    outputs: [
      {
        name: "",
        type: "tuple",
        internalType: "struct IEscrow.Lock",
        components: [
          { name: "wallet", type: "address", internalType: "address" },
          { name: "seq", type: "uint64", internalType: "uint64" },
          { name: "destChain", type: "uint16", internalType: "uint16" },
          { name: "state", type: "uint8", internalType: "enum IEscrow.LockState" },
          { name: "token", type: "address", internalType: "address" },
          { name: "lockedAt", type: "uint64", internalType: "uint64" },
          { name: "amount", type: "uint128", internalType: "uint128" },
          { name: "minOut", type: "uint128", internalType: "uint128" },
          { name: "commitment", type: "bytes32", internalType: "bytes32" },
          { name: "delivery", type: "bytes32", internalType: "bytes32" },
        ],
      },
    ],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "nextSeq",
    inputs: [
      { name: "wallet", type: "address", internalType: "address" },
      { name: "token", type: "address", internalType: "address" },
    ],
    outputs: [{ name: "", type: "uint64", internalType: "uint64" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "returnToWallet",
    inputs: [
      { name: "deliveryId", type: "bytes32", internalType: "bytes32" },
      { name: "deadline", type: "uint256", internalType: "uint256" },
      { name: "signature", type: "bytes", internalType: "bytes" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "takeBack",
    inputs: [
      { name: "deliveryId", type: "bytes32", internalType: "bytes32" },
      {
        name: "c",
        type: "tuple",
        internalType: "struct Commitment",
        components: [
          { name: "integrator", type: "bytes32", internalType: "bytes32" },
          { name: "userId", type: "bytes32", internalType: "bytes32" },
          { name: "destChain", type: "uint16", internalType: "uint16" },
          { name: "destWallet", type: "bytes32", internalType: "bytes32" },
          { name: "destToken", type: "bytes32", internalType: "bytes32" },
          { name: "refundAuthority", type: "bytes32", internalType: "bytes32" },
          { name: "maxFeeBps", type: "uint16", internalType: "uint16" },
          { name: "maxSlippageBps", type: "uint16", internalType: "uint16" },
        ],
      },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "takeBackAnnouncedAt",
    inputs: [
      { name: "wallet", type: "address", internalType: "address" },
      { name: "token", type: "address", internalType: "address" },
    ],
    outputs: [{ name: "", type: "uint256", internalType: "uint256" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "treasury",
    inputs: [],
    outputs: [{ name: "", type: "address", internalType: "address" }],
    stateMutability: "view",
  },
  {
    type: "event",
    name: "Claimed",
    inputs: [
      { name: "deliveryId", type: "bytes32", indexed: true, internalType: "bytes32" },
      { name: "paidAmount", type: "uint256", indexed: false, internalType: "uint256" },
      { name: "amount", type: "uint256", indexed: false, internalType: "uint256" },
    ],
    anonymous: false,
  },
  {
    type: "event",
    name: "Locked",
    inputs: [
      { name: "deliveryId", type: "bytes32", indexed: true, internalType: "bytes32" },
      { name: "wallet", type: "address", indexed: true, internalType: "address" },
      { name: "commitment", type: "bytes32", indexed: true, internalType: "bytes32" },
      { name: "token", type: "address", indexed: false, internalType: "address" },
      { name: "amount", type: "uint256", indexed: false, internalType: "uint256" },
      { name: "minOut", type: "uint256", indexed: false, internalType: "uint256" },
      { name: "seq", type: "uint64", indexed: false, internalType: "uint64" },
      { name: "destChain", type: "uint16", indexed: false, internalType: "uint16" },
      { name: "delivery", type: "bytes32", indexed: false, internalType: "bytes32" },
    ],
    anonymous: false,
  },
  {
    type: "event",
    name: "Returned",
    inputs: [
      { name: "deliveryId", type: "bytes32", indexed: true, internalType: "bytes32" },
      { name: "wallet", type: "address", indexed: true, internalType: "address" },
      { name: "amount", type: "uint256", indexed: false, internalType: "uint256" },
    ],
    anonymous: false,
  },
  {
    type: "event",
    name: "TakeBackAnnounced",
    inputs: [
      { name: "wallet", type: "address", indexed: true, internalType: "address" },
      { name: "token", type: "address", indexed: true, internalType: "address" },
      { name: "announcedAt", type: "uint256", indexed: false, internalType: "uint256" },
    ],
    anonymous: false,
  },
  {
    type: "event",
    name: "TakeBackCancelled",
    inputs: [
      { name: "wallet", type: "address", indexed: true, internalType: "address" },
      { name: "token", type: "address", indexed: true, internalType: "address" },
    ],
    anonymous: false,
  },
  {
    type: "event",
    name: "TakenBack",
    inputs: [
      { name: "deliveryId", type: "bytes32", indexed: true, internalType: "bytes32" },
      { name: "to", type: "address", indexed: true, internalType: "address" },
      { name: "amount", type: "uint256", indexed: false, internalType: "uint256" },
    ],
    anonymous: false,
  },
  {
    type: "error",
    name: "Expired",
    inputs: [
      { name: "deadline", type: "uint256", internalType: "uint256" },
      { name: "timestamp", type: "uint256", internalType: "uint256" },
    ],
  },
  { type: "error", name: "FailedCall", inputs: [] },
  {
    type: "error",
    name: "InsufficientBalance",
    inputs: [
      { name: "balance", type: "uint256", internalType: "uint256" },
      { name: "needed", type: "uint256", internalType: "uint256" },
    ],
  },
  { type: "error", name: "IsPaused", inputs: [] },
  {
    type: "error",
    name: "NotAnAddress",
    inputs: [{ name: "value", type: "bytes32", internalType: "bytes32" }],
  },
  {
    type: "error",
    name: "NotAnnounced",
    inputs: [
      { name: "wallet", type: "address", internalType: "address" },
      { name: "token", type: "address", internalType: "address" },
    ],
  },
  {
    type: "error",
    name: "NotAttestor",
    inputs: [{ name: "signer", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "NotLocked",
    inputs: [
      { name: "deliveryId", type: "bytes32", internalType: "bytes32" },
      { name: "state", type: "uint8", internalType: "enum IEscrow.LockState" },
    ],
  },
  {
    type: "error",
    name: "NotRefundAuthority",
    inputs: [
      { name: "caller", type: "address", internalType: "address" },
      { name: "refundAuthority", type: "bytes32", internalType: "bytes32" },
    ],
  },
  {
    type: "error",
    name: "NotRelayer",
    inputs: [{ name: "caller", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "NotWallet",
    inputs: [
      { name: "caller", type: "address", internalType: "address" },
      { name: "wallet", type: "address", internalType: "address" },
    ],
  },
  {
    type: "error",
    name: "PaidTooLittle",
    inputs: [
      { name: "paidAmount", type: "uint256", internalType: "uint256" },
      { name: "minOut", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "ReceivedLess",
    inputs: [
      { name: "received", type: "uint256", internalType: "uint256" },
      { name: "amount", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "SafeCastOverflowedUintDowncast",
    inputs: [
      { name: "bits", type: "uint8", internalType: "uint8" },
      { name: "value", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "SafeERC20FailedOperation",
    inputs: [{ name: "token", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "TakeBackPending",
    inputs: [
      { name: "wallet", type: "address", internalType: "address" },
      { name: "token", type: "address", internalType: "address" },
    ],
  },
  {
    type: "error",
    name: "TooEarly",
    inputs: [
      { name: "earliest", type: "uint256", internalType: "uint256" },
      { name: "timestamp", type: "uint256", internalType: "uint256" },
    ],
  },
  { type: "error", name: "TooFewAttestors", inputs: [] },
  {
    type: "error",
    name: "WrongCommitment",
    inputs: [
      { name: "commitment", type: "bytes32", internalType: "bytes32" },
      { name: "expected", type: "bytes32", internalType: "bytes32" },
    ],
  },
  {
    type: "error",
    name: "WrongEvmChain",
    inputs: [
      { name: "chainId", type: "uint256", internalType: "uint256" },
      { name: "expected", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "WrongValue",
    inputs: [
      { name: "value", type: "uint256", internalType: "uint256" },
      { name: "expected", type: "uint256", internalType: "uint256" },
    ],
  },
  { type: "error", name: "ZeroAddress", inputs: [] },
] as const;

export const deliveryAbi = [
  {
    type: "constructor",
    inputs: [
      { name: "owner_", type: "address", internalType: "address" },
      { name: "guardian_", type: "address", internalType: "address" },
      { name: "delay_", type: "uint256", internalType: "uint256" },
      { name: "factory_", type: "address", internalType: "address" },
      { name: "bridgeId_", type: "uint16", internalType: "uint16" },
      { name: "treasury_", type: "address", internalType: "address" },
    ],
    stateMutability: "nonpayable",
  },
  { type: "receive", stateMutability: "payable" },
  {
    type: "function",
    name: "GUARDIAN",
    inputs: [],
    outputs: [{ name: "", type: "bytes32", internalType: "bytes32" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "SETTLER",
    inputs: [],
    outputs: [{ name: "", type: "bytes32", internalType: "bytes32" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "acceptOwnership",
    inputs: [],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "bridgeId",
    inputs: [],
    outputs: [{ name: "", type: "uint16", internalType: "uint16" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "cancel",
    inputs: [
      { name: "role", type: "bytes32", internalType: "bytes32" },
      { name: "who", type: "address", internalType: "address" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "cancelCapRaise",
    inputs: [{ name: "token", type: "address", internalType: "address" }],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "capLeft",
    inputs: [{ name: "token", type: "address", internalType: "address" }],
    outputs: [{ name: "", type: "uint256", internalType: "uint256" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "capOf",
    inputs: [{ name: "token", type: "address", internalType: "address" }],
    outputs: [{ name: "", type: "uint256", internalType: "uint256" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "capRaiseOf",
    inputs: [{ name: "token", type: "address", internalType: "address" }],
    outputs: [
      { name: "", type: "uint256", internalType: "uint256" },
      { name: "", type: "uint256", internalType: "uint256" },
    ],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "delay",
    inputs: [],
    outputs: [{ name: "", type: "uint256", internalType: "uint256" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "deliver",
    inputs: [
      {
        name: "order",
        type: "tuple",
        internalType: "struct IDelivery.Order",
        components: [
          {
            name: "c",
            type: "tuple",
            internalType: "struct Commitment",
            components: [
              { name: "integrator", type: "bytes32", internalType: "bytes32" },
              { name: "userId", type: "bytes32", internalType: "bytes32" },
              { name: "destChain", type: "uint16", internalType: "uint16" },
              { name: "destWallet", type: "bytes32", internalType: "bytes32" },
              { name: "destToken", type: "bytes32", internalType: "bytes32" },
              { name: "refundAuthority", type: "bytes32", internalType: "bytes32" },
              { name: "maxFeeBps", type: "uint16", internalType: "uint16" },
              { name: "maxSlippageBps", type: "uint16", internalType: "uint16" },
            ],
          },
          { name: "srcChain", type: "uint16", internalType: "uint16" },
          { name: "escrow", type: "bytes32", internalType: "bytes32" },
          { name: "srcToken", type: "bytes32", internalType: "bytes32" },
          { name: "seq", type: "uint64", internalType: "uint64" },
          { name: "amount", type: "uint256", internalType: "uint256" },
          { name: "deadline", type: "uint256", internalType: "uint256" },
        ],
      },
      { name: "signature", type: "bytes", internalType: "bytes" },
    ],
    outputs: [{ name: "deliveryId", type: "bytes32", internalType: "bytes32" }],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "deliveryIdOf",
    inputs: [
      {
        name: "order",
        type: "tuple",
        internalType: "struct IDelivery.Order",
        components: [
          {
            name: "c",
            type: "tuple",
            internalType: "struct Commitment",
            components: [
              { name: "integrator", type: "bytes32", internalType: "bytes32" },
              { name: "userId", type: "bytes32", internalType: "bytes32" },
              { name: "destChain", type: "uint16", internalType: "uint16" },
              { name: "destWallet", type: "bytes32", internalType: "bytes32" },
              { name: "destToken", type: "bytes32", internalType: "bytes32" },
              { name: "refundAuthority", type: "bytes32", internalType: "bytes32" },
              { name: "maxFeeBps", type: "uint16", internalType: "uint16" },
              { name: "maxSlippageBps", type: "uint16", internalType: "uint16" },
            ],
          },
          { name: "srcChain", type: "uint16", internalType: "uint16" },
          { name: "escrow", type: "bytes32", internalType: "bytes32" },
          { name: "srcToken", type: "bytes32", internalType: "bytes32" },
          { name: "seq", type: "uint64", internalType: "uint64" },
          { name: "amount", type: "uint256", internalType: "uint256" },
          { name: "deadline", type: "uint256", internalType: "uint256" },
        ],
      },
    ],
    outputs: [{ name: "", type: "bytes32", internalType: "bytes32" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "domainSeparator",
    inputs: [],
    outputs: [{ name: "", type: "bytes32", internalType: "bytes32" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "eta",
    inputs: [
      { name: "role", type: "bytes32", internalType: "bytes32" },
      { name: "who", type: "address", internalType: "address" },
    ],
    outputs: [{ name: "", type: "uint256", internalType: "uint256" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "execute",
    inputs: [
      { name: "role", type: "bytes32", internalType: "bytes32" },
      { name: "who", type: "address", internalType: "address" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "executeCapRaise",
    inputs: [{ name: "token", type: "address", internalType: "address" }],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "factory",
    inputs: [],
    outputs: [{ name: "", type: "address", internalType: "address" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "guardian",
    inputs: [],
    outputs: [{ name: "", type: "address", internalType: "address" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "hasRole",
    inputs: [
      { name: "role", type: "bytes32", internalType: "bytes32" },
      { name: "who", type: "address", internalType: "address" },
    ],
    outputs: [{ name: "", type: "bool", internalType: "bool" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "isDelivered",
    inputs: [{ name: "deliveryId", type: "bytes32", internalType: "bytes32" }],
    outputs: [{ name: "", type: "bool", internalType: "bool" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "isSealed",
    inputs: [],
    outputs: [{ name: "", type: "bool", internalType: "bool" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "isSettler",
    inputs: [{ name: "who", type: "address", internalType: "address" }],
    outputs: [{ name: "", type: "bool", internalType: "bool" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "lowerCap",
    inputs: [
      { name: "token", type: "address", internalType: "address" },
      { name: "perDay", type: "uint112", internalType: "uint112" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "owner",
    inputs: [],
    outputs: [{ name: "", type: "address", internalType: "address" }],
    stateMutability: "view",
  },
  { type: "function", name: "pause", inputs: [], outputs: [], stateMutability: "nonpayable" },
  {
    type: "function",
    name: "paused",
    inputs: [],
    outputs: [{ name: "", type: "bool", internalType: "bool" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "pendingOwner",
    inputs: [],
    outputs: [{ name: "", type: "address", internalType: "address" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "remove",
    inputs: [
      { name: "role", type: "bytes32", internalType: "bytes32" },
      { name: "who", type: "address", internalType: "address" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "schedule",
    inputs: [
      { name: "role", type: "bytes32", internalType: "bytes32" },
      { name: "who", type: "address", internalType: "address" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "scheduleCapRaise",
    inputs: [
      { name: "token", type: "address", internalType: "address" },
      { name: "perDay", type: "uint112", internalType: "uint112" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "seal",
    inputs: [
      { name: "settlers", type: "address[]", internalType: "address[]" },
      {
        name: "caps",
        type: "tuple[]",
        internalType: "struct IDelivery.DailyCap[]",
        components: [
          { name: "token", type: "address", internalType: "address" },
          { name: "perDay", type: "uint112", internalType: "uint112" },
        ],
      },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "transferOwnership",
    inputs: [{ name: "newOwner", type: "address", internalType: "address" }],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "treasury",
    inputs: [],
    outputs: [{ name: "", type: "address", internalType: "address" }],
    stateMutability: "view",
  },
  { type: "function", name: "unpause", inputs: [], outputs: [], stateMutability: "nonpayable" },
  {
    type: "function",
    name: "withdraw",
    inputs: [
      { name: "token", type: "address", internalType: "address" },
      { name: "amount", type: "uint256", internalType: "uint256" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "event",
    name: "Cancelled",
    inputs: [
      { name: "role", type: "bytes32", indexed: true, internalType: "bytes32" },
      { name: "who", type: "address", indexed: true, internalType: "address" },
    ],
    anonymous: false,
  },
  {
    type: "event",
    name: "CapRaiseCancelled",
    inputs: [{ name: "token", type: "address", indexed: true, internalType: "address" }],
    anonymous: false,
  },
  {
    type: "event",
    name: "CapRaiseScheduled",
    inputs: [
      { name: "token", type: "address", indexed: true, internalType: "address" },
      { name: "perDay", type: "uint256", indexed: false, internalType: "uint256" },
      { name: "eta", type: "uint256", indexed: false, internalType: "uint256" },
    ],
    anonymous: false,
  },
  {
    type: "event",
    name: "CapSet",
    inputs: [
      { name: "token", type: "address", indexed: true, internalType: "address" },
      { name: "perDay", type: "uint256", indexed: false, internalType: "uint256" },
    ],
    anonymous: false,
  },
  {
    type: "event",
    name: "Delivered",
    inputs: [
      { name: "deliveryId", type: "bytes32", indexed: true, internalType: "bytes32" },
      { name: "commitment", type: "bytes32", indexed: true, internalType: "bytes32" },
      { name: "to", type: "address", indexed: true, internalType: "address" },
      { name: "token", type: "address", indexed: false, internalType: "address" },
      { name: "amount", type: "uint256", indexed: false, internalType: "uint256" },
    ],
    anonymous: false,
  },
  {
    type: "event",
    name: "OwnershipTransferStarted",
    inputs: [
      { name: "owner", type: "address", indexed: true, internalType: "address" },
      { name: "pendingOwner", type: "address", indexed: true, internalType: "address" },
    ],
    anonymous: false,
  },
  {
    type: "event",
    name: "OwnershipTransferred",
    inputs: [
      { name: "previousOwner", type: "address", indexed: true, internalType: "address" },
      { name: "owner", type: "address", indexed: true, internalType: "address" },
    ],
    anonymous: false,
  },
  {
    type: "event",
    name: "Paused",
    inputs: [{ name: "by", type: "address", indexed: true, internalType: "address" }],
    anonymous: false,
  },
  {
    type: "event",
    name: "RoleGranted",
    inputs: [
      { name: "role", type: "bytes32", indexed: true, internalType: "bytes32" },
      { name: "who", type: "address", indexed: true, internalType: "address" },
    ],
    anonymous: false,
  },
  {
    type: "event",
    name: "RoleRevoked",
    inputs: [
      { name: "role", type: "bytes32", indexed: true, internalType: "bytes32" },
      { name: "who", type: "address", indexed: true, internalType: "address" },
    ],
    anonymous: false,
  },
  {
    type: "event",
    name: "Scheduled",
    inputs: [
      { name: "role", type: "bytes32", indexed: true, internalType: "bytes32" },
      { name: "who", type: "address", indexed: true, internalType: "address" },
      { name: "eta", type: "uint256", indexed: false, internalType: "uint256" },
    ],
    anonymous: false,
  },
  { type: "event", name: "Sealed", inputs: [], anonymous: false },
  {
    type: "event",
    name: "Unpaused",
    inputs: [{ name: "by", type: "address", indexed: true, internalType: "address" }],
    anonymous: false,
  },
  {
    type: "event",
    name: "Withdrawn",
    inputs: [
      { name: "token", type: "address", indexed: true, internalType: "address" },
      { name: "amount", type: "uint256", indexed: false, internalType: "uint256" },
    ],
    anonymous: false,
  },
  {
    type: "error",
    name: "AboveDailyCap",
    inputs: [
      { name: "token", type: "address", internalType: "address" },
      { name: "amount", type: "uint256", internalType: "uint256" },
      { name: "left", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "AlreadyDelivered",
    inputs: [{ name: "deliveryId", type: "bytes32", internalType: "bytes32" }],
  },
  {
    type: "error",
    name: "AlreadyMember",
    inputs: [
      { name: "role", type: "bytes32", internalType: "bytes32" },
      { name: "who", type: "address", internalType: "address" },
    ],
  },
  {
    type: "error",
    name: "AlreadyScheduled",
    inputs: [
      { name: "role", type: "bytes32", internalType: "bytes32" },
      { name: "who", type: "address", internalType: "address" },
    ],
  },
  { type: "error", name: "AlreadySealed", inputs: [] },
  {
    type: "error",
    name: "CapRaisePending",
    inputs: [{ name: "token", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "Expired",
    inputs: [
      { name: "deadline", type: "uint256", internalType: "uint256" },
      { name: "timestamp", type: "uint256", internalType: "uint256" },
    ],
  },
  { type: "error", name: "IsPaused", inputs: [] },
  {
    type: "error",
    name: "NoCapRaisePending",
    inputs: [{ name: "token", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "NotAnAddress",
    inputs: [{ name: "value", type: "bytes32", internalType: "bytes32" }],
  },
  {
    type: "error",
    name: "NotAttestor",
    inputs: [{ name: "signer", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "NotGuardian",
    inputs: [{ name: "caller", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "NotHigher",
    inputs: [
      { name: "perDay", type: "uint256", internalType: "uint256" },
      { name: "cap", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "NotLower",
    inputs: [
      { name: "perDay", type: "uint256", internalType: "uint256" },
      { name: "cap", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "NotMember",
    inputs: [
      { name: "role", type: "bytes32", internalType: "bytes32" },
      { name: "who", type: "address", internalType: "address" },
    ],
  },
  {
    type: "error",
    name: "NotOwner",
    inputs: [{ name: "caller", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "NotOwnerOrGuardian",
    inputs: [{ name: "caller", type: "address", internalType: "address" }],
  },
  { type: "error", name: "NotPaused", inputs: [] },
  {
    type: "error",
    name: "NotPendingOwner",
    inputs: [{ name: "caller", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "NotScheduled",
    inputs: [
      { name: "role", type: "bytes32", internalType: "bytes32" },
      { name: "who", type: "address", internalType: "address" },
    ],
  },
  {
    type: "error",
    name: "NotSettler",
    inputs: [{ name: "caller", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "ReceivedLess",
    inputs: [
      { name: "received", type: "uint256", internalType: "uint256" },
      { name: "amount", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "RecipientRefused",
    inputs: [{ name: "to", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "SafeCastOverflowedUintDowncast",
    inputs: [
      { name: "bits", type: "uint8", internalType: "uint8" },
      { name: "value", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "SafeERC20FailedOperation",
    inputs: [{ name: "token", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "TooEarly",
    inputs: [
      { name: "eta", type: "uint256", internalType: "uint256" },
      { name: "timestamp", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "UnknownRole",
    inputs: [{ name: "role", type: "bytes32", internalType: "bytes32" }],
  },
  {
    type: "error",
    name: "WrongDestChain",
    inputs: [
      { name: "destChain", type: "uint16", internalType: "uint16" },
      { name: "expected", type: "uint16", internalType: "uint16" },
    ],
  },
  { type: "error", name: "ZeroAddress", inputs: [] },
  { type: "error", name: "ZeroAmount", inputs: [] },
] as const;

export const testTokenAbi = [
  {
    type: "constructor",
    inputs: [
      { name: "name_", type: "string", internalType: "string" },
      { name: "symbol_", type: "string", internalType: "string" },
      { name: "decimals_", type: "uint8", internalType: "uint8" },
    ],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "addMinter",
    inputs: [{ name: "minter", type: "address", internalType: "address" }],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "allowance",
    inputs: [
      { name: "owner", type: "address", internalType: "address" },
      { name: "spender", type: "address", internalType: "address" },
    ],
    outputs: [{ name: "", type: "uint256", internalType: "uint256" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "approve",
    inputs: [
      { name: "spender", type: "address", internalType: "address" },
      { name: "value", type: "uint256", internalType: "uint256" },
    ],
    outputs: [{ name: "", type: "bool", internalType: "bool" }],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "balanceOf",
    inputs: [{ name: "account", type: "address", internalType: "address" }],
    outputs: [{ name: "", type: "uint256", internalType: "uint256" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "burn",
    inputs: [{ name: "amount", type: "uint256", internalType: "uint256" }],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "decimals",
    inputs: [],
    outputs: [{ name: "", type: "uint8", internalType: "uint8" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "mint",
    inputs: [
      { name: "to", type: "address", internalType: "address" },
      { name: "amount", type: "uint256", internalType: "uint256" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "name",
    inputs: [],
    outputs: [{ name: "", type: "string", internalType: "string" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "symbol",
    inputs: [],
    outputs: [{ name: "", type: "string", internalType: "string" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "totalSupply",
    inputs: [],
    outputs: [{ name: "", type: "uint256", internalType: "uint256" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "transfer",
    inputs: [
      { name: "to", type: "address", internalType: "address" },
      { name: "value", type: "uint256", internalType: "uint256" },
    ],
    outputs: [{ name: "", type: "bool", internalType: "bool" }],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "transferFrom",
    inputs: [
      { name: "from", type: "address", internalType: "address" },
      { name: "to", type: "address", internalType: "address" },
      { name: "value", type: "uint256", internalType: "uint256" },
    ],
    outputs: [{ name: "", type: "bool", internalType: "bool" }],
    stateMutability: "nonpayable",
  },
  {
    type: "event",
    name: "Approval",
    inputs: [
      { name: "owner", type: "address", indexed: true, internalType: "address" },
      { name: "spender", type: "address", indexed: true, internalType: "address" },
      { name: "value", type: "uint256", indexed: false, internalType: "uint256" },
    ],
    anonymous: false,
  },
  {
    type: "event",
    name: "Transfer",
    inputs: [
      { name: "from", type: "address", indexed: true, internalType: "address" },
      { name: "to", type: "address", indexed: true, internalType: "address" },
      { name: "value", type: "uint256", indexed: false, internalType: "uint256" },
    ],
    anonymous: false,
  },
  {
    type: "error",
    name: "ERC20InsufficientAllowance",
    inputs: [
      { name: "spender", type: "address", internalType: "address" },
      { name: "allowance", type: "uint256", internalType: "uint256" },
      { name: "needed", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "ERC20InsufficientBalance",
    inputs: [
      { name: "sender", type: "address", internalType: "address" },
      { name: "balance", type: "uint256", internalType: "uint256" },
      { name: "needed", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "ERC20InvalidApprover",
    inputs: [{ name: "approver", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "ERC20InvalidReceiver",
    inputs: [{ name: "receiver", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "ERC20InvalidSender",
    inputs: [{ name: "sender", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "ERC20InvalidSpender",
    inputs: [{ name: "spender", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "NotMinter",
    inputs: [{ name: "caller", type: "address", internalType: "address" }],
  },
] as const;

export const sandboxTokenMessengerV2Abi = [
  {
    type: "constructor",
    inputs: [
      { name: "transmitter", type: "address", internalType: "address" },
      { name: "token", type: "address", internalType: "address" },
      { name: "feeRecipient_", type: "address", internalType: "address" },
    ],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "MIN_FEE_MULTIPLIER",
    inputs: [],
    outputs: [{ name: "", type: "uint256", internalType: "uint256" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "depositForBurn",
    inputs: [
      { name: "amount", type: "uint256", internalType: "uint256" },
      { name: "destinationDomain", type: "uint32", internalType: "uint32" },
      { name: "mintRecipient", type: "bytes32", internalType: "bytes32" },
      { name: "burnToken", type: "address", internalType: "address" },
      { name: "destinationCaller", type: "bytes32", internalType: "bytes32" },
      { name: "maxFee", type: "uint256", internalType: "uint256" },
      { name: "minFinalityThreshold", type: "uint32", internalType: "uint32" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "feeRecipient",
    inputs: [],
    outputs: [{ name: "", type: "address", internalType: "address" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "getMinFeeAmount",
    inputs: [{ name: "amount", type: "uint256", internalType: "uint256" }],
    outputs: [{ name: "", type: "uint256", internalType: "uint256" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "handleReceiveFinalizedMessage",
    inputs: [
      { name: "sourceDomain", type: "uint32", internalType: "uint32" },
      { name: "sender", type: "bytes32", internalType: "bytes32" },
      { name: "", type: "uint32", internalType: "uint32" },
      { name: "messageBody", type: "bytes", internalType: "bytes" },
    ],
    outputs: [{ name: "", type: "bool", internalType: "bool" }],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "handleReceiveUnfinalizedMessage",
    inputs: [
      { name: "sourceDomain", type: "uint32", internalType: "uint32" },
      { name: "sender", type: "bytes32", internalType: "bytes32" },
      { name: "finalityThresholdExecuted", type: "uint32", internalType: "uint32" },
      { name: "messageBody", type: "bytes", internalType: "bytes" },
    ],
    outputs: [{ name: "", type: "bool", internalType: "bool" }],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "link",
    inputs: [
      { name: "domain", type: "uint32", internalType: "uint32" },
      { name: "tokenMessenger", type: "bytes32", internalType: "bytes32" },
      { name: "remoteToken", type: "bytes32", internalType: "bytes32" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "localMessageTransmitter",
    inputs: [],
    outputs: [{ name: "", type: "address", internalType: "address" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "messageBodyVersion",
    inputs: [],
    outputs: [{ name: "", type: "uint32", internalType: "uint32" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "minFee",
    inputs: [],
    outputs: [{ name: "", type: "uint256", internalType: "uint256" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "remoteTokenMessengers",
    inputs: [{ name: "domain", type: "uint32", internalType: "uint32" }],
    outputs: [{ name: "", type: "bytes32", internalType: "bytes32" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "setMinFee",
    inputs: [{ name: "minFee_", type: "uint256", internalType: "uint256" }],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "event",
    name: "DepositForBurn",
    inputs: [
      { name: "burnToken", type: "address", indexed: true, internalType: "address" },
      { name: "amount", type: "uint256", indexed: false, internalType: "uint256" },
      { name: "depositor", type: "address", indexed: true, internalType: "address" },
      { name: "mintRecipient", type: "bytes32", indexed: false, internalType: "bytes32" },
      { name: "destinationDomain", type: "uint32", indexed: false, internalType: "uint32" },
      {
        name: "destinationTokenMessenger",
        type: "bytes32",
        indexed: false,
        internalType: "bytes32",
      },
      { name: "destinationCaller", type: "bytes32", indexed: false, internalType: "bytes32" },
      { name: "maxFee", type: "uint256", indexed: false, internalType: "uint256" },
      { name: "minFinalityThreshold", type: "uint32", indexed: true, internalType: "uint32" },
      { name: "hookData", type: "bytes", indexed: false, internalType: "bytes" },
    ],
    anonymous: false,
  },
  {
    type: "event",
    name: "MintAndWithdraw",
    inputs: [
      { name: "mintRecipient", type: "address", indexed: true, internalType: "address" },
      { name: "amount", type: "uint256", indexed: false, internalType: "uint256" },
      { name: "mintToken", type: "address", indexed: true, internalType: "address" },
      { name: "feeCollected", type: "uint256", indexed: false, internalType: "uint256" },
    ],
    anonymous: false,
  },
  {
    type: "error",
    name: "NotAnAddress",
    inputs: [{ name: "value", type: "bytes32", internalType: "bytes32" }],
  },
  {
    type: "error",
    name: "SafeERC20FailedOperation",
    inputs: [{ name: "token", type: "address", internalType: "address" }],
  },
] as const;

export const sandboxMessageTransmitterV2Abi = [
  {
    type: "constructor",
    inputs: [
      { name: "localDomain_", type: "uint32", internalType: "uint32" },
      { name: "attesters", type: "address[]", internalType: "address[]" },
      { name: "signatureThreshold_", type: "uint256", internalType: "uint256" },
    ],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "isEnabledAttester",
    inputs: [{ name: "attester", type: "address", internalType: "address" }],
    outputs: [{ name: "", type: "bool", internalType: "bool" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "localDomain",
    inputs: [],
    outputs: [{ name: "", type: "uint32", internalType: "uint32" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "receiveMessage",
    inputs: [
      { name: "message", type: "bytes", internalType: "bytes" },
      { name: "attestation", type: "bytes", internalType: "bytes" },
    ],
    outputs: [{ name: "", type: "bool", internalType: "bool" }],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "sendMessage",
    inputs: [
      { name: "destinationDomain", type: "uint32", internalType: "uint32" },
      { name: "recipient", type: "bytes32", internalType: "bytes32" },
      { name: "destinationCaller", type: "bytes32", internalType: "bytes32" },
      { name: "minFinalityThreshold", type: "uint32", internalType: "uint32" },
      { name: "messageBody", type: "bytes", internalType: "bytes" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "signatureThreshold",
    inputs: [],
    outputs: [{ name: "", type: "uint256", internalType: "uint256" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "usedNonces",
    inputs: [{ name: "nonce", type: "bytes32", internalType: "bytes32" }],
    outputs: [{ name: "", type: "uint256", internalType: "uint256" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "version",
    inputs: [],
    outputs: [{ name: "", type: "uint32", internalType: "uint32" }],
    stateMutability: "view",
  },
  {
    type: "event",
    name: "MessageReceived",
    inputs: [
      { name: "caller", type: "address", indexed: true, internalType: "address" },
      { name: "sourceDomain", type: "uint32", indexed: false, internalType: "uint32" },
      { name: "nonce", type: "bytes32", indexed: true, internalType: "bytes32" },
      { name: "sender", type: "bytes32", indexed: false, internalType: "bytes32" },
      { name: "finalityThresholdExecuted", type: "uint32", indexed: true, internalType: "uint32" },
      { name: "messageBody", type: "bytes", indexed: false, internalType: "bytes" },
    ],
    anonymous: false,
  },
  {
    type: "event",
    name: "MessageSent",
    inputs: [{ name: "message", type: "bytes", indexed: false, internalType: "bytes" }],
    anonymous: false,
  },
  {
    type: "error",
    name: "NotAnAddress",
    inputs: [{ name: "value", type: "bytes32", internalType: "bytes32" }],
  },
] as const;

export const hostileTokenAbi = [
  {
    type: "constructor",
    inputs: [
      { name: "name_", type: "string", internalType: "string" },
      { name: "symbol_", type: "string", internalType: "string" },
      { name: "decimals_", type: "uint8", internalType: "uint8" },
    ],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "allowance",
    inputs: [
      { name: "owner", type: "address", internalType: "address" },
      { name: "spender", type: "address", internalType: "address" },
    ],
    outputs: [{ name: "", type: "uint256", internalType: "uint256" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "approve",
    inputs: [
      { name: "spender", type: "address", internalType: "address" },
      { name: "amount", type: "uint256", internalType: "uint256" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "balanceOf",
    inputs: [{ name: "owner", type: "address", internalType: "address" }],
    outputs: [{ name: "", type: "uint256", internalType: "uint256" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "behave",
    inputs: [
      {
        name: "conduct_",
        type: "tuple",
        internalType: "struct HostileToken.Conduct",
        components: [
          { name: "feeBps", type: "uint16", internalType: "uint16" },
          { name: "index", type: "uint256", internalType: "uint256" },
          { name: "answer", type: "uint8", internalType: "enum HostileToken.Answer" },
          { name: "pretends", type: "bool", internalType: "bool" },
          { name: "keepsOne", type: "bool", internalType: "bool" },
          { name: "paused", type: "bool", internalType: "bool" },
          { name: "refusesZero", type: "bool", internalType: "bool" },
          { name: "refusesRace", type: "bool", internalType: "bool" },
          { name: "stickyAllowance", type: "bool", internalType: "bool" },
          { name: "capped", type: "bool", internalType: "bool" },
          { name: "picky", type: "bool", internalType: "bool" },
          { name: "waste", type: "uint64", internalType: "uint64" },
          { name: "endless", type: "bool", internalType: "bool" },
          { name: "bomb", type: "uint32", internalType: "uint32" },
        ],
      },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "blockAccount",
    inputs: [
      { name: "who", type: "address", internalType: "address" },
      { name: "on", type: "bool", internalType: "bool" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "blocked",
    inputs: [{ name: "who", type: "address", internalType: "address" }],
    outputs: [{ name: "", type: "bool", internalType: "bool" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "decimals",
    inputs: [],
    outputs: [{ name: "", type: "uint8", internalType: "uint8" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "flood",
    inputs: [
      { name: "to", type: "address", internalType: "address" },
      { name: "amount", type: "uint256", internalType: "uint256" },
      { name: "times", type: "uint256", internalType: "uint256" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "hook",
    inputs: [
      { name: "target", type: "address", internalType: "address" },
      { name: "payload", type: "bytes", internalType: "bytes" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "hookAnswer",
    inputs: [],
    outputs: [{ name: "", type: "bytes", internalType: "bytes" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "hookSucceeded",
    inputs: [],
    outputs: [{ name: "", type: "bool", internalType: "bool" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "initialize",
    inputs: [
      { name: "name_", type: "string", internalType: "string" },
      { name: "symbol_", type: "string", internalType: "string" },
      { name: "decimals_", type: "uint8", internalType: "uint8" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "lie",
    inputs: [
      {
        name: "lie_",
        type: "tuple",
        internalType: "struct HostileToken.Lie",
        components: [
          { name: "told", type: "bool", internalType: "bool" },
          { name: "balance", type: "uint256", internalType: "uint256" },
          { name: "confidant", type: "address", internalType: "address" },
        ],
      },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "mint",
    inputs: [
      { name: "to", type: "address", internalType: "address" },
      { name: "amount", type: "uint256", internalType: "uint256" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "mirror",
    inputs: [{ name: "twin", type: "address", internalType: "address" }],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "name",
    inputs: [],
    outputs: [{ name: "", type: "string", internalType: "string" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "payAndRevert",
    inputs: [
      { name: "to", type: "address", internalType: "address" },
      { name: "amount", type: "uint256", internalType: "uint256" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "pretend",
    inputs: [
      { name: "from", type: "address", internalType: "address" },
      { name: "to", type: "address", internalType: "address" },
      { name: "amount", type: "uint256", internalType: "uint256" },
      { name: "times", type: "uint256", internalType: "uint256" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "seize",
    inputs: [
      { name: "from", type: "address", internalType: "address" },
      { name: "amount", type: "uint256", internalType: "uint256" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "symbol",
    inputs: [],
    outputs: [{ name: "", type: "string", internalType: "string" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "totalSupply",
    inputs: [],
    outputs: [{ name: "", type: "uint256", internalType: "uint256" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "transfer",
    inputs: [
      { name: "to", type: "address", internalType: "address" },
      { name: "amount", type: "uint256", internalType: "uint256" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "transferFrom",
    inputs: [
      { name: "from", type: "address", internalType: "address" },
      { name: "to", type: "address", internalType: "address" },
      { name: "amount", type: "uint256", internalType: "uint256" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "event",
    name: "Approval",
    inputs: [
      { name: "owner", type: "address", indexed: true, internalType: "address" },
      { name: "spender", type: "address", indexed: true, internalType: "address" },
      { name: "value", type: "uint256", indexed: false, internalType: "uint256" },
    ],
    anonymous: false,
  },
  {
    type: "event",
    name: "Transfer",
    inputs: [
      { name: "from", type: "address", indexed: true, internalType: "address" },
      { name: "to", type: "address", indexed: true, internalType: "address" },
      { name: "value", type: "uint256", indexed: false, internalType: "uint256" },
    ],
    anonymous: false,
  },
] as const;

export const erc20Abi = [
  {
    type: "function",
    name: "balanceOf",
    stateMutability: "view",
    inputs: [{ name: "account", type: "address" }],
    outputs: [{ name: "", type: "uint256" }],
  },
  {
    type: "function",
    name: "allowance",
    stateMutability: "view",
    inputs: [
      { name: "owner", type: "address" },
      { name: "spender", type: "address" },
    ],
    outputs: [{ name: "", type: "uint256" }],
  },
  {
    type: "function",
    name: "decimals",
    stateMutability: "view",
    inputs: [],
    outputs: [{ name: "", type: "uint8" }],
  },
  {
    type: "function",
    name: "symbol",
    stateMutability: "view",
    inputs: [],
    outputs: [{ name: "", type: "string" }],
  },
  {
    type: "function",
    name: "transfer",
    stateMutability: "nonpayable",
    inputs: [
      { name: "to", type: "address" },
      { name: "value", type: "uint256" },
    ],
    outputs: [{ name: "", type: "bool" }],
  },
  {
    type: "function",
    name: "approve",
    stateMutability: "nonpayable",
    inputs: [
      { name: "spender", type: "address" },
      { name: "value", type: "uint256" },
    ],
    outputs: [{ name: "", type: "bool" }],
  },
  {
    type: "event",
    name: "Transfer",
    anonymous: false,
    inputs: [
      { name: "from", type: "address", indexed: true },
      { name: "to", type: "address", indexed: true },
      { name: "value", type: "uint256", indexed: false },
    ],
  },
] as const;

export const errorsAbi = [
  {
    type: "error",
    name: "AboveDailyCap",
    inputs: [
      { name: "token", type: "address", internalType: "address" },
      { name: "amount", type: "uint256", internalType: "uint256" },
      { name: "left", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "AboveMaxAmount",
    inputs: [
      { name: "amount", type: "uint256", internalType: "uint256" },
      { name: "maxAmount", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "AddressEmptyCode",
    inputs: [{ name: "target", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "AlreadyDelivered",
    inputs: [{ name: "deliveryId", type: "bytes32", internalType: "bytes32" }],
  },
  {
    type: "error",
    name: "AlreadyMember",
    inputs: [
      { name: "role", type: "bytes32", internalType: "bytes32" },
      { name: "who", type: "address", internalType: "address" },
    ],
  },
  {
    type: "error",
    name: "AlreadyScheduled",
    inputs: [
      { name: "role", type: "bytes32", internalType: "bytes32" },
      { name: "who", type: "address", internalType: "address" },
    ],
  },
  { type: "error", name: "AlreadySealed", inputs: [] },
  {
    type: "error",
    name: "BurnedOther",
    inputs: [
      { name: "burned", type: "uint256", internalType: "uint256" },
      { name: "amount", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "CapRaisePending",
    inputs: [{ name: "token", type: "address", internalType: "address" }],
  },
  { type: "error", name: "Create2EmptyBytecode", inputs: [] },
  {
    type: "error",
    name: "DeadlineTooFar",
    inputs: [
      { name: "deadline", type: "uint256", internalType: "uint256" },
      { name: "latest", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "ERC20InsufficientAllowance",
    inputs: [
      { name: "spender", type: "address", internalType: "address" },
      { name: "allowance", type: "uint256", internalType: "uint256" },
      { name: "needed", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "ERC20InsufficientBalance",
    inputs: [
      { name: "sender", type: "address", internalType: "address" },
      { name: "balance", type: "uint256", internalType: "uint256" },
      { name: "needed", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "ERC20InvalidApprover",
    inputs: [{ name: "approver", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "ERC20InvalidReceiver",
    inputs: [{ name: "receiver", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "ERC20InvalidSender",
    inputs: [{ name: "sender", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "ERC20InvalidSpender",
    inputs: [{ name: "spender", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "Expired",
    inputs: [
      { name: "deadline", type: "uint256", internalType: "uint256" },
      { name: "timestamp", type: "uint256", internalType: "uint256" },
    ],
  },
  { type: "error", name: "FailedCall", inputs: [] },
  { type: "error", name: "FailedDeployment", inputs: [] },
  {
    type: "error",
    name: "FeeAboveCap",
    inputs: [
      { name: "fee", type: "uint256", internalType: "uint256" },
      { name: "cap", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "InsufficientBalance",
    inputs: [
      { name: "balance", type: "uint256", internalType: "uint256" },
      { name: "needed", type: "uint256", internalType: "uint256" },
    ],
  },
  { type: "error", name: "InvalidConfig", inputs: [] },
  {
    type: "error",
    name: "InvalidData",
    inputs: [{ name: "length", type: "uint256", internalType: "uint256" }],
  },
  {
    type: "error",
    name: "InvalidFinality",
    inputs: [{ name: "threshold", type: "uint32", internalType: "uint32" }],
  },
  { type: "error", name: "IsPaused", inputs: [] },
  {
    type: "error",
    name: "Leftover",
    inputs: [
      { name: "wallet", type: "address", internalType: "address" },
      { name: "token", type: "address", internalType: "address" },
      { name: "balance", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "NeedGas",
    inputs: [
      { name: "available", type: "uint256", internalType: "uint256" },
      { name: "needed", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "NoCapRaisePending",
    inputs: [{ name: "token", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "NoCode",
    inputs: [{ name: "route", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "NoMinimum",
    inputs: [
      { name: "amountIn", type: "uint256", internalType: "uint256" },
      { name: "maxSlippageBps", type: "uint16", internalType: "uint16" },
    ],
  },
  {
    type: "error",
    name: "NotAnAddress",
    inputs: [{ name: "value", type: "bytes32", internalType: "bytes32" }],
  },
  {
    type: "error",
    name: "NotAnnounced",
    inputs: [
      { name: "wallet", type: "address", internalType: "address" },
      { name: "token", type: "address", internalType: "address" },
    ],
  },
  {
    type: "error",
    name: "NotAttestor",
    inputs: [{ name: "signer", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "NotFactory",
    inputs: [{ name: "caller", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "NotGuardian",
    inputs: [{ name: "caller", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "NotHigher",
    inputs: [
      { name: "perDay", type: "uint256", internalType: "uint256" },
      { name: "cap", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "Nothing",
    inputs: [
      { name: "wallet", type: "address", internalType: "address" },
      { name: "token", type: "address", internalType: "address" },
    ],
  },
  {
    type: "error",
    name: "NothingPromised",
    inputs: [
      { name: "amount", type: "uint256", internalType: "uint256" },
      { name: "maxFeeBps", type: "uint16", internalType: "uint16" },
    ],
  },
  {
    type: "error",
    name: "NotLocked",
    inputs: [
      { name: "deliveryId", type: "bytes32", internalType: "bytes32" },
      { name: "state", type: "uint8", internalType: "enum IEscrow.LockState" },
    ],
  },
  {
    type: "error",
    name: "NotLower",
    inputs: [
      { name: "perDay", type: "uint256", internalType: "uint256" },
      { name: "cap", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "NotMember",
    inputs: [
      { name: "role", type: "bytes32", internalType: "bytes32" },
      { name: "who", type: "address", internalType: "address" },
    ],
  },
  {
    type: "error",
    name: "NotMinter",
    inputs: [{ name: "caller", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "NotOwner",
    inputs: [{ name: "caller", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "NotOwnerOrGuardian",
    inputs: [{ name: "caller", type: "address", internalType: "address" }],
  },
  { type: "error", name: "NotPaused", inputs: [] },
  {
    type: "error",
    name: "NotPendingOwner",
    inputs: [{ name: "caller", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "NotRefundAuthority",
    inputs: [
      { name: "caller", type: "address", internalType: "address" },
      { name: "refundAuthority", type: "bytes32", internalType: "bytes32" },
    ],
  },
  {
    type: "error",
    name: "NotRelayer",
    inputs: [{ name: "caller", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "NotRoute",
    inputs: [{ name: "route", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "NotScheduled",
    inputs: [
      { name: "role", type: "bytes32", internalType: "bytes32" },
      { name: "who", type: "address", internalType: "address" },
    ],
  },
  { type: "error", name: "NotSealed", inputs: [] },
  {
    type: "error",
    name: "NotSelf",
    inputs: [{ name: "caller", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "NotSettler",
    inputs: [{ name: "caller", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "NotSpent",
    inputs: [{ name: "left", type: "uint256", internalType: "uint256" }],
  },
  {
    type: "error",
    name: "NotWallet",
    inputs: [
      { name: "caller", type: "address", internalType: "address" },
      { name: "wallet", type: "address", internalType: "address" },
    ],
  },
  {
    type: "error",
    name: "PaidTooLittle",
    inputs: [
      { name: "paidAmount", type: "uint256", internalType: "uint256" },
      { name: "minOut", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "RateOutOfBounds",
    inputs: [
      { name: "rate", type: "uint256", internalType: "uint256" },
      { name: "min", type: "uint256", internalType: "uint256" },
      { name: "max", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "ReceivedLess",
    inputs: [
      { name: "received", type: "uint256", internalType: "uint256" },
      { name: "amount", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "ReceivedLess",
    inputs: [
      { name: "received", type: "uint256", internalType: "uint256" },
      { name: "least", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "RecipientRefused",
    inputs: [{ name: "to", type: "address", internalType: "address" }],
  },
  { type: "error", name: "ReentrancyGuardReentrantCall", inputs: [] },
  {
    type: "error",
    name: "SafeCastOverflowedUintDowncast",
    inputs: [
      { name: "bits", type: "uint8", internalType: "uint8" },
      { name: "value", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "SafeERC20FailedOperation",
    inputs: [{ name: "token", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "SpecialRecipient",
    inputs: [{ name: "to", type: "address", internalType: "address" }],
  },
  {
    type: "error",
    name: "TakeBackPending",
    inputs: [
      { name: "wallet", type: "address", internalType: "address" },
      { name: "token", type: "address", internalType: "address" },
    ],
  },
  {
    type: "error",
    name: "TooEarly",
    inputs: [
      { name: "earliest", type: "uint256", internalType: "uint256" },
      { name: "timestamp", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "TooEarly",
    inputs: [
      { name: "eta", type: "uint256", internalType: "uint256" },
      { name: "timestamp", type: "uint256", internalType: "uint256" },
    ],
  },
  { type: "error", name: "TooFewAttestors", inputs: [] },
  {
    type: "error",
    name: "UnknownRole",
    inputs: [{ name: "role", type: "bytes32", internalType: "bytes32" }],
  },
  {
    type: "error",
    name: "WrongCommitment",
    inputs: [
      { name: "commitment", type: "bytes32", internalType: "bytes32" },
      { name: "expected", type: "bytes32", internalType: "bytes32" },
    ],
  },
  {
    type: "error",
    name: "WrongDestChain",
    inputs: [
      { name: "destChain", type: "uint16", internalType: "uint16" },
      { name: "expected", type: "uint16", internalType: "uint16" },
    ],
  },
  {
    type: "error",
    name: "WrongDestToken",
    inputs: [
      { name: "destToken", type: "bytes32", internalType: "bytes32" },
      { name: "expected", type: "bytes32", internalType: "bytes32" },
    ],
  },
  {
    type: "error",
    name: "WrongEvmChain",
    inputs: [
      { name: "chainId", type: "uint256", internalType: "uint256" },
      { name: "expected", type: "uint256", internalType: "uint256" },
    ],
  },
  {
    type: "error",
    name: "WrongToken",
    inputs: [
      { name: "token", type: "address", internalType: "address" },
      { name: "expected", type: "address", internalType: "address" },
    ],
  },
  {
    type: "error",
    name: "WrongValue",
    inputs: [
      { name: "value", type: "uint256", internalType: "uint256" },
      { name: "expected", type: "uint256", internalType: "uint256" },
    ],
  },
  { type: "error", name: "ZeroAddress", inputs: [] },
  { type: "error", name: "ZeroAmount", inputs: [] },
] as const;

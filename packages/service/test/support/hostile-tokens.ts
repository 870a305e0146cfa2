/** Hostile tokens with adjustable behaviour in a test world: one on each chain, with routes from the one on ethereum. */
import { readFileSync, writeFileSync } from "node:fs";
import {
  deliveryAbi,
  depositFactoryAbi,
  hostileTokenAbi,
  sameAssetRouteAbi,
  transferRouteAbi,
} from "@sluice/contracts/abi";
import {
  hostileTokenBytecode,
  sameAssetRouteBytecode,
  transferRouteBytecode,
} from "@sluice/contracts/bytecode";
import { CHAIN_SPECS, type ChainName, USDC } from "@sluice/sandbox";
import {
  type Address,
  type ContractFunctionArgs,
  createWalletClient,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  http,
  keccak256,
  pad,
  parseEther,
  stringToHex,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import type { World } from "./world.ts";

type Conduct = ContractFunctionArgs<typeof hostileTokenAbi, "nonpayable", "behave">[0];
type HostileCall = Parameters<typeof encodeFunctionData<typeof hostileTokenAbi>>[0] extends infer T
  ? Omit<T & object, "abi">
  : never;

/** The return value of transfers, where ERC-20 specifies `bool`. */
export const ANSWER = { true: 0, nothing: 1, false: 2 } as const;

const PLAIN: Conduct = {
  feeBps: 0,
  index: 0n,
  answer: ANSWER.true,
  pretends: false,
  keepsOne: false,
  paused: false,
  refusesZero: false,
  refusesRace: false,
  stickyAllowance: false,
  capped: false,
  picky: false,
  waste: 0n,
  endless: false,
  bomb: 0,
};

const GAS = 6_000_000n;
const PLENTY = 10n ** 15n;

interface ConfigFile {
  chains: { tokens: object[] }[];
  routes: object[];
}

export type HostileTokens = Awaited<ReturnType<typeof listHostileTokens>>;

/** Deploys the tokens and adds them to the contracts, in a world without a delay for additions. */
export async function listHostileTokens(world: World) {
  const { deployment } = world;
  const stranger = privateKeyToAccount(generatePrivateKey());

  async function send(chain: ChainName, call: { readonly to?: Address; readonly data: Hex }) {
    const { client, rpcUrl } = world.chains[chain];
    const wallet = createWalletClient({
      account: stranger,
      chain: client.chain,
      transport: http(rpcUrl),
    });
    const hash = await wallet.sendTransaction({ ...call, gas: GAS });
    const receipt = await client.waitForTransactionReceipt({ hash });
    if (receipt.status !== "success") throw new Error(`a call to a strange token reverted`);
    return receipt;
  }

  async function create(chain: ChainName, data: Hex): Promise<Address> {
    const { contractAddress } = await send(chain, { data });
    if (!contractAddress) throw new Error("nothing was deployed");
    return contractAddress;
  }

  const tokenOf = async (chain: ChainName) => {
    await world.chains[chain].client.setBalance({
      address: stranger.address,
      value: parseEther("100"),
    });
    const args = ["Odd", "ODD", USDC.decimals] as const;
    return create(
      chain,
      encodeDeployData({ abi: hostileTokenAbi, bytecode: hostileTokenBytecode, args }),
    );
  };
  const tokens = { ethereum: await tokenOf("ethereum"), base: await tokenOf("base") };
  const specOf = (name: ChainName) => {
    const spec = CHAIN_SPECS.find((one) => one.name === name);
    if (!spec) throw new Error(`there is no ${name}`);
    return spec;
  };
  const [here, there] = [specOf("ethereum"), specOf("base")];
  const transferRoute = await create(
    "ethereum",
    encodeDeployData({
      abi: transferRouteAbi,
      bytecode: transferRouteBytecode,
      args: [
        {
          evmChainId: BigInt(here.evmChainId),
          bridgeId: here.chainId,
          factory: deployment.factory,
          token: tokens.ethereum,
          feeRecipient: privateKeyToAccount(generatePrivateKey()).address,
        },
      ],
    }),
  );
  const escrowRoute = await create(
    "ethereum",
    encodeDeployData({
      abi: sameAssetRouteAbi,
      bytecode: sameAssetRouteBytecode,
      args: [
        {
          evmChainId: BigInt(here.evmChainId),
          sourceChain: here.chainId,
          sourceToken: tokens.ethereum,
          sourceDecimals: USDC.decimals,
          escrow: deployment.chains.ethereum.escrow,
          destChain: there.chainId,
          destToken: pad(tokens.base),
          destDecimals: USDC.decimals,
          delivery: pad(deployment.chains.base.delivery),
        },
      ],
    }),
  );
  const role = keccak256(stringToHex("sluice.role.route"));
  for (const route of [transferRoute, escrowRoute]) {
    for (const functionName of ["schedule", "execute"] as const) {
      const data = encodeFunctionData({
        abi: depositFactoryAbi,
        functionName,
        args: [role, route],
      });
      await world.asOwner("ethereum", { to: deployment.factory, data });
    }
  }
  const { delivery } = deployment.chains.base;
  const raise = { functionName: "scheduleCapRaise", args: [tokens.base, PLENTY] } as const;
  await world.asOwner("base", {
    to: delivery,
    data: encodeFunctionData({ abi: deliveryAbi, ...raise }),
  });
  await world.asOwner("base", {
    to: delivery,
    data: encodeFunctionData({
      abi: deliveryAbi,
      functionName: "executeCapRaise",
      args: [tokens.base],
    }),
  });

  const call = (chain: ChainName, what: HostileCall) =>
    // CAST: the arguments belong to the named function.
    send(chain, {
      to: tokens[chain],
      data: encodeFunctionData({ abi: hostileTokenAbi, ...what } as never),
    });
  await call("ethereum", { functionName: "mint", args: [stranger.address, PLENTY] });
  await call("base", { functionName: "mint", args: [delivery, PLENTY] });

  const config: ConfigFile = JSON.parse(readFileSync(world.configPath, "utf8"));
  for (const [index, chain] of ([here, there] as const).entries()) {
    config.chains[index]?.tokens.push({
      symbol: "ODD",
      address: tokens[chain.name],
      decimals: USDC.decimals,
      minDeposit: "1",
      price: { static: "1" },
    });
  }
  const source = { chainId: here.chainId, token: tokens.ethereum };
  config.routes.push(
    { kind: "MONO_CHAIN", ...source, contract: transferRoute },
    {
      kind: "SWIFT",
      ...source,
      destChain: there.chainId,
      destToken: tokens.base,
      contract: escrowRoute,
    },
  );
  writeFileSync(world.configPath, JSON.stringify(config));
  await world.restartService({});

  return {
    tokens,
    call,
    /** Sets the behaviour of a token; all else is as in an ordinary token. */
    behave: (chain: ChainName, conduct: Partial<Conduct>) =>
      call(chain, { functionName: "behave", args: [{ ...PLAIN, ...conduct }] }),
    /** Pays the token on ethereum by an ordinary transfer. */
    pay: (to: Address, amount: bigint) =>
      call("ethereum", { functionName: "transfer", args: [to, amount] }),
    /** Quotes a deposit address of a new recipient for the token on ethereum. */
    async quote(to: ChainName) {
      const recipient = world.newRecipient();
      const asked = { from: "ethereum", to, recipient } as const;
      const pair = { fromToken: tokens.ethereum, toToken: tokens[to] };
      const { address, quote } = await world.quote({ ...asked, ...pair });
      return { recipient, address, quote };
    },
    balance: (chain: ChainName, owner: Address) =>
      world.chains[chain].client.readContract({
        address: tokens[chain],
        abi: hostileTokenAbi,
        functionName: "balanceOf",
        args: [owner],
      }),
  };
}

/** Checks of the price feeds that a chain's tokens name. */
import type { EvmChain, TokenConfig } from "../config/index.ts";
import { findPresetFeed } from "../config/presets/index.ts";
import { formatUnits } from "../core/amounts.ts";
import type { EvmAddress } from "../core/hex.ts";
import { type Check, judge } from "../core/check.ts";
import { type DoctorDeps, subjectOf } from "./facts.ts";

const USD_DECIMALS = 18;
const ADVICE =
  "Correct the address of the feed: priced pairs and minimums would use a wrong price.";

export function checkFeeds(deps: DoctorDeps, chain: EvmChain, identified: Check): readonly Check[] {
  return chain.tokens.flatMap((token) =>
    (token.price?.feeds ?? []).map((feed, index, { length }) =>
      checkFeed(deps, {
        chain,
        feed: feed.address,
        item: nameOf(token, length > 1 ? index : undefined),
        identified,
      }),
    ),
  );
}

function nameOf({ symbol }: TokenConfig, index: number | undefined): string {
  return index === undefined ? symbol : `${symbol} feeds[${index}]`;
}

/** Checks that the feed answers, and describes the preset's pair; without a preset, any pair in US dollars. */
function checkFeed(
  deps: DoctorDeps,
  given: {
    readonly chain: EvmChain;
    readonly feed: EvmAddress;
    readonly item: string;
    readonly identified: Check;
  },
): Check {
  const { chain, feed, item, identified } = given;
  const known = chain.preset && findPresetFeed(chain.preset, feed);
  const pairs = known && [known.pair, ...(known.otherPair === undefined ? [] : [known.otherPair])];
  return {
    id: "price.feed",
    subject: subjectOf(chain),
    item,
    needs: [identified],
    async run() {
      const inspector = deps.nodesOf(chain.chainId).service;
      const expected = `${pairs?.join(" or ") ?? "a pair in US dollars"}, above zero`;
      if (!(await inspector.hasCode(feed))) {
        const found = `no code at ${deps.display(feed)}`;
        return judge(false, { found, expected, advice: ADVICE });
      }
      const { description, usd, publishedAtMs } = await inspector.getPriceFeed(feed);
      const isMeant = pairs ? pairs.includes(description) : description.endsWith(" / USD");
      const ageS = Math.floor((deps.clock.now() - publishedAtMs) / 1000);
      // The text is an untrusted contract's and may contain control characters.
      const shown = JSON.stringify(description.slice(0, 32));
      return judge(isMeant && usd > 0n, {
        found: `${shown}, ${formatUnits(usd, USD_DECIMALS)} US dollars, ${ageS} s old`,
        expected,
        advice: ADVICE,
        // Without a preset the feed's name is not known, so another description is only a warning.
        otherwise: known || usd <= 0n ? "problem" : "warning",
      });
    },
  };
}

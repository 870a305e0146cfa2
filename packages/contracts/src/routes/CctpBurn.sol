// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IERC20 } from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import { ICctpBurn } from "../interfaces/ICctpBurn.sol";
import { IRoute } from "../interfaces/IRoute.sol";
import { ITokenMessengerV2 } from "../interfaces/external/ITokenMessengerV2.sol";
import { Address32 } from "../types/Address32.sol";
import { Allowance } from "../types/Allowance.sol";
import { Commitment } from "../types/Commitment.sol";

/// @title Base of the routes through Circle's CCTP v2: from one USDC to another
/// @notice Trust: Circle, which mints on the destination the amount burned here.
abstract contract CctpBurn is ICctpBurn {
    uint32 private constant CONFIRMED = 1000;
    uint32 internal constant FINALIZED = 2000;

    address internal immutable USDC;
    address internal immutable MESSENGER;
    uint16 internal immutable DEST_CHAIN;
    bytes32 internal immutable DEST_TOKEN;
    uint32 internal immutable DEST_DOMAIN;

    constructor(
        address usdc,
        address messenger,
        uint16 destChain,
        bytes32 destToken,
        uint32 destDomain
    ) {
        if (usdc == address(0) || messenger == address(0) || destToken == 0) {
            revert IRoute.InvalidConfig();
        }
        USDC = usdc;
        MESSENGER = messenger;
        DEST_CHAIN = destChain;
        DEST_TOKEN = destToken;
        DEST_DOMAIN = destDomain;
    }

    /// @dev The least that Circle's messenger lets the bridge keep, zero today.
    function _minFeeOf(uint256 amount) internal view returns (uint256) {
        return ITokenMessengerV2(MESSENGER).getMinFeeAmount(amount);
    }

    /// @dev Burns what the wallet paid to this route. The message names the wallet in its hook data, so
    /// that each of several burns in one transaction is known by its deposit. The balance must fall by
    /// exactly `amount`; no allowance stays.
    function _burn(
        Commitment calldata c,
        address wallet,
        uint256 amount,
        uint256 fee,
        uint256 maxFee,
        uint32 threshold
    ) internal {
        uint256 balanceBefore = IERC20(USDC).balanceOf(address(this));
        Allowance.grant(USDC, MESSENGER, amount);
        ITokenMessengerV2(MESSENGER)
            .depositForBurnWithHook(
                amount,
                DEST_DOMAIN,
                c.destWallet,
                USDC,
                bytes32(0),
                maxFee,
                threshold,
                abi.encode(wallet)
            );
        Allowance.end(USDC, MESSENGER);
        uint256 burned = balanceBefore - IERC20(USDC).balanceOf(address(this));
        if (burned != amount) revert BurnedOther(burned, amount);
        emit Burned(wallet, USDC, amount, fee, maxFee, DEST_DOMAIN, c.destWallet);
    }

    function _checkBurn(Commitment calldata c, uint32 threshold) internal pure {
        if (threshold != CONFIRMED && threshold != FINALIZED) {
            revert InvalidFinality(threshold);
        }
        // The destination is an EVM chain: a mint to another form of address is lost.
        Address32.toNonZeroAddress(c.destWallet);
    }
}

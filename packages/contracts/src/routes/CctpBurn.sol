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
    uint32 private constant FINALIZED = 2000;

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

    /// @dev Runs in the wallet. The balance must fall by exactly `amount`; no allowance stays.
    function _burn(
        Commitment calldata c,
        uint256 amount,
        uint256 fee,
        uint256 maxFee,
        uint32 threshold
    ) internal {
        if (threshold != CONFIRMED && threshold != FINALIZED) {
            revert InvalidFinality(threshold);
        }
        // The destination is an EVM chain: a mint to another form of address is lost.
        Address32.toNonZeroAddress(c.destWallet);
        uint256 balanceBefore = IERC20(USDC).balanceOf(address(this));
        Allowance.grant(USDC, MESSENGER, amount);
        ITokenMessengerV2(MESSENGER)
            .depositForBurn(amount, DEST_DOMAIN, c.destWallet, USDC, bytes32(0), maxFee, threshold);
        Allowance.end(USDC, MESSENGER);
        uint256 burned = balanceBefore - IERC20(USDC).balanceOf(address(this));
        if (burned != amount) revert BurnedOther(burned, amount);
        emit Burned(address(this), USDC, amount, fee, maxFee, DEST_DOMAIN, c.destWallet);
    }
}

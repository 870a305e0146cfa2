// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Commitment } from "../../src/types/Commitment.sol";
import { Fixture } from "./Fixture.sol";

/// @notice A few users, each with its own recipient and refund authority: their funding, and where
/// it is now.
abstract contract Users is Fixture {
    uint256 public funded;
    Commitment[] internal commitments;

    function fund(uint256 user, uint64 amount) external {
        usdc.mint(factory.predict(commitments[user % commitments.length]), amount);
        funded += amount;
    }

    /// @dev Source tokens at the places where a commitment or the code sent them.
    function inPlace() external view returns (uint256 sum) {
        sum = usdc.balanceOf(address(escrow)) + usdc.balanceOf(TREASURY) + usdc.balanceOf(FEES);
        for (uint256 i; i < commitments.length; ++i) {
            sum += usdc.balanceOf(factory.predict(commitments[i]));
            sum += usdc.balanceOf(recipientOf(i));
            sum += usdc.balanceOf(authorityOf(i));
        }
    }

    /// @dev Inventory that reached committed recipients.
    function inventoryAtRecipients() external view returns (uint256 sum) {
        for (uint256 i; i < commitments.length; ++i) {
            sum += usdcThere.balanceOf(recipientOf(i));
        }
    }

    function feesTaken() external view returns (uint256) {
        return usdc.balanceOf(FEES);
    }

    function addUser(Commitment memory c) internal {
        uint256 user = commitments.length;
        c.userId = bytes32(user);
        c.destWallet = word(recipientOf(user));
        c.refundAuthority = word(authorityOf(user));
        commitments.push(c);
    }

    function recipientOf(uint256 user) internal pure returns (address) {
        return address(uint160(0xd0000 + user));
    }

    function authorityOf(uint256 user) internal pure returns (address) {
        return address(uint160(0xf0000 + user));
    }
}

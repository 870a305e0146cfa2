// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IERC20 } from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import { SafeERC20 } from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import { Address } from "@openzeppelin/contracts/utils/Address.sol";
import { IDepositWallet } from "./interfaces/IDepositWallet.sol";
import { IRoute } from "./interfaces/IRoute.sol";
import { Commitment } from "./types/Commitment.sol";

/// @title The code behind every deposit address
/// @notice Stores nothing and decides nothing: only the factory may call it, with the commitment of
/// its address.
///
/// Never do with a deposit address:
/// - use it on a chain where the factory is not at its usual address, or whose CREATE2 differs:
///   the funds may be lost permanently;
/// - make it an owner, a signer, a minter or a beneficiary that must claim: it calls nothing except
///   through a listed route;
/// - send NFTs or other tokens without a `transfer(address,uint256)` to it: only that call moves
///   tokens out;
/// - grant it allowances, or expect it to spend any;
/// - lose its commitment: without the eight fields nobody can act on it.
///
/// Tokens that misbehave here: fee-on-transfer tokens (above the committed cap they cannot be
/// settled); rebasing tokens (some may remain, and a settlement that leaves any reverts); tokens
/// that block addresses (a blocked wallet or recipient can only wait); and tokens that call other
/// contracts on transfer (the factory's guard makes reentrant calls fail). All of them can be
/// refunded as far as their own `transfer` allows.
///
/// It has no `receive`: the proxy accepts native coin by itself, and the bare implementation
/// refuses it, since it could not give it back.
contract DepositWallet is IDepositWallet {
    using SafeERC20 for IERC20;
    using Address for address;
    using Address for address payable;

    address private immutable FACTORY = msg.sender;

    modifier onlyFactory() {
        if (msg.sender != FACTORY) revert NotFactory(msg.sender);
        _;
    }

    /// @inheritdoc IDepositWallet
    function run(address route, Commitment calldata c, address token, bytes calldata data)
        external
        onlyFactory
        returns (uint256 amount)
    {
        amount = _balance(token);
        if (amount == 0) return 0;
        route.functionDelegateCall(abi.encodeCall(IRoute.deliver, (c, token, amount, data)));
    }

    /// @inheritdoc IDepositWallet
    function refund(address token, address to) external onlyFactory returns (uint256 amount) {
        amount = _balance(token);
        if (amount == 0) return 0;
        if (token == address(0)) payable(to).sendValue(amount);
        else IERC20(token).safeTransfer(to, amount);
    }

    function _balance(address token) private view returns (uint256) {
        return token == address(0) ? address(this).balance : IERC20(token).balanceOf(address(this));
    }
}

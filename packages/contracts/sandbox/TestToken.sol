// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { ERC20 } from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title A token for sandboxes and tests
/// @notice Has no value; the deployer and the minters that it names can mint. Never list it on a
/// real chain.
contract TestToken is ERC20 {
    /// @notice The caller may not mint or name a minter.
    error NotMinter(address caller);

    address private immutable DEPLOYER = msg.sender;
    uint8 private immutable DECIMALS;
    mapping(address who => bool) private _minters;

    constructor(string memory name_, string memory symbol_, uint8 decimals_) ERC20(name_, symbol_) {
        DECIMALS = decimals_;
    }

    /// @notice Mints for a bridge what it burned on another chain.
    function addMinter(address minter) external {
        if (msg.sender != DEPLOYER) revert NotMinter(msg.sender);
        _minters[minter] = true;
    }

    function mint(address to, uint256 amount) external {
        if (msg.sender != DEPLOYER && !_minters[msg.sender]) revert NotMinter(msg.sender);
        _mint(to, amount);
    }

    /// @notice Burns from the caller's balance.
    function burn(uint256 amount) external {
        _burn(msg.sender, amount);
    }

    function decimals() public view override returns (uint8) {
        return DECIMALS;
    }
}

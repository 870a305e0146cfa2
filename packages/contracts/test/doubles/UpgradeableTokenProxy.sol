// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @notice A proxy whose code anybody changes, as an upgrade does.
contract UpgradeableTokenProxy {
    /// @dev Where ERC-1967 says that the implementation stands.
    bytes32 private constant SLOT =
        0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc;

    constructor(address implementation, bytes memory data) {
        upgradeTo(implementation);
        if (data.length == 0) return;
        (bool ok,) = implementation.delegatecall(data);
        if (!ok) revert();
    }

    fallback() external {
        bytes32 slot = SLOT;
        assembly ("memory-safe") {
            let target := sload(slot)
            let at := mload(0x40)
            calldatacopy(at, 0, calldatasize())
            let ok := delegatecall(gas(), target, at, calldatasize(), 0, 0)
            returndatacopy(at, 0, returndatasize())
            if ok { return(at, returndatasize()) }
            revert(at, returndatasize())
        }
    }

    function upgradeTo(address implementation) public {
        bytes32 slot = SLOT;
        assembly ("memory-safe") { sstore(slot, implementation) }
    }
}

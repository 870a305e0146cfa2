// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title The code of a deposit address
/// @notice 51 bytes that delegate every call to the implementation and stop at once on empty
/// calldata, so that a deployed address accepts native transfers with only 2,300 gas (an ordinary
/// minimal proxy does not: the delegatecall alone costs more).
/// No PUSH0: the bytes, and with them the addresses, are the same on chains that lack it.
/// Never change them: these bytes are part of every address.
///
/// ```text
/// init     3d 60 33 80 60 0a 3d 39 81 f3       copy the 51 bytes behind it and return them
/// runtime  36 60 05 57 00                      calldatasize ? jump to 5 : stop
///    5     5b 36 3d 3d 37                      calldata to memory 0
///   10     3d 3d 3d 36 3d 73 <implementation>  0, then the arguments of the delegate call
///   36     5a f4 3d 82 80 3e 90 3d 91          delegate call, return data to memory 0
///   45     60 31 57 fd                         failed: revert with the return data
///   49     5b f3                               else return it
/// ```
library WalletProxy {
    function initCode(address implementation) internal pure returns (bytes memory) {
        return abi.encodePacked(
            hex"3d603380600a3d3981f3",
            hex"36600557005b363d3d373d3d3d363d73",
            implementation,
            hex"5af43d82803e903d91603157fd5bf3"
        );
    }
}

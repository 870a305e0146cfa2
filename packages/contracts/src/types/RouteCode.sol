// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title Instructions that a route must not contain
/// @notice Code with DELEGATECALL or CALLCODE can run other code than was listed, and code with
/// SELFDESTRUCT can be replaced on some chains. Code that starts with 0xEF is no plain code: an
/// account that delegates (EIP-7702), whose owner can change it at any time, or another format.
/// A jump never leads into the operands of a PUSH, so skipping them hides nothing. Data behind the
/// code is read as instructions: it can only make the check too strict.
library RouteCode {
    uint256 private constant CALLCODE = 0xf2;
    uint256 private constant DELEGATECALL = 0xf4;
    uint256 private constant SELFDESTRUCT = 0xff;
    uint256 private constant FORBIDDEN = 1 << CALLCODE | 1 << DELEGATECALL | 1 << SELFDESTRUCT;
    uint8 private constant NOT_PLAIN = 0xef;

    /// @notice Returns the first forbidden byte and its offset; zero if there is none.
    /// @dev Assembly, because a seal scans the code of every route, and checked access to single bytes
    /// costs three times as much. A test compares it with a plain interpreter.
    function findForbidden(bytes memory code) internal pure returns (uint8 opcode, uint256 offset) {
        if (code.length != 0 && uint8(code[0]) == NOT_PLAIN) return (NOT_PLAIN, 0);
        uint256 forbidden = FORBIDDEN;
        assembly ("memory-safe") {
            let start := add(code, 0x20)
            let end := add(start, mload(code))
            for { let at := start } lt(at, end) { at := add(at, 1) } {
                let op := byte(0, mload(at))
                if lt(op, 0x60) { continue }
                // PUSH1 to PUSH32 and their operands.
                if lt(op, 0x80) {
                    at := add(at, sub(op, 0x5f))
                    continue
                }
                if and(shr(op, forbidden), 1) {
                    opcode := op
                    offset := sub(at, start)
                    break
                }
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { ERC20 } from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title A token for sandboxes and tests
/// @notice Has no value; the deployer and the minters that it names can mint. Never list it on a
/// real chain. Transfers by signature follow EIP-3009, in version "2" of the domain, as USDC has it.
contract TestToken is ERC20 {
    /// @notice The caller may not mint or name a minter.
    error NotMinter(address caller);
    /// @notice The authorization was used, is not valid at this time, or is not signed by its payer.
    error BadAuthorization(address payer, bytes32 nonce);

    /// @notice An authorization was used.
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);

    bytes32 private constant DOMAIN_TYPEHASH = keccak256(
        "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
    );
    bytes32 private constant TRANSFER_TYPEHASH = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );

    address private immutable DEPLOYER = msg.sender;
    uint8 private immutable DECIMALS;
    mapping(address who => bool) private _minters;
    /// @notice Whether an authorization of an account was used.
    mapping(address authorizer => mapping(bytes32 nonce => bool used)) public authorizationState;

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

    /// @notice Transfers by the payer's signature (EIP-3009); anybody may send it, once.
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        bytes32 structHash = keccak256(
            abi.encode(TRANSFER_TYPEHASH, from, to, value, validAfter, validBefore, nonce)
        );
        bytes32 digest = keccak256(abi.encodePacked("\x19\x01", _domainSeparator(), structHash));
        address signer = ecrecover(digest, v, r, s);
        bool isTimely = block.timestamp > validAfter && block.timestamp < validBefore;
        if (!isTimely || authorizationState[from][nonce] || signer == address(0) || signer != from)
        {
            revert BadAuthorization(from, nonce);
        }
        authorizationState[from][nonce] = true;
        emit AuthorizationUsed(from, nonce);
        _transfer(from, to, value);
    }

    function decimals() public view override returns (uint8) {
        return DECIMALS;
    }

    function _domainSeparator() private view returns (bytes32) {
        return keccak256(
            abi.encode(
                DOMAIN_TYPEHASH,
                keccak256(bytes(name())),
                keccak256("2"),
                block.chainid,
                address(this)
            )
        );
    }
}

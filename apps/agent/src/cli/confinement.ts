import { type AgentPaths, DEFAULT_CONFIG_DIR } from '../config.ts'

/**
 * The confinement of the agent's unit. It is root on somebody else's host and reads input from a server, Docker and
 * strangers' DNS, so it gets only the rights for the network, its own directories and the kernel's network settings.
 * Programs that it starts, like wireguard-go, inherit this.
 */
export function renderConfinement({ configDir }: Pick<AgentPaths, 'configDir'>): string[] {
  const own = configDir === DEFAULT_CONFIG_DIR ? 'postern-agent wireguard' : 'wireguard'
  return [
    'CapabilityBoundingSet=CAP_NET_ADMIN CAP_NET_BIND_SERVICE',
    'ProtectSystem=strict',
    // Not hidden, because Node, a list of services or the socket of a rootless Docker may be there.
    'ProtectHome=read-only',
    `RuntimeDirectory=${own}`,
    'RuntimeDirectoryMode=0700',
    'RuntimeDirectoryPreserve=yes',
    `ReadWritePaths="${configDir.replaceAll('%', '%%')}" -/proc/sys/net`,
    'ReadOnlyPaths=/run',
    'PrivateTmp=yes',
    'PrivateMounts=yes',
    // wireguard-go needs its device, which PrivateDevices alone would hide.
    'PrivateDevices=yes',
    'BindPaths=-/dev/net/tun',
    'DeviceAllow=/dev/net/tun rw',
    'KeyringMode=private',
    'PrivateIPC=yes',
    'ProtectClock=yes',
    'ProtectControlGroups=yes',
    'ProtectHostname=yes',
    'ProtectKernelLogs=yes',
    // The kernel loads WireGuard by itself when the interface is created.
    'ProtectKernelModules=yes',
    'ProtectKernelTunables=yes',
    'RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK',
    'RestrictNamespaces=yes',
    'RestrictRealtime=yes',
    'RestrictSUIDSGID=yes',
    'LockPersonality=yes',
    'SystemCallArchitectures=native',
    'SystemCallFilter=@system-service',
    'SystemCallErrorNumber=EPERM',
  ]
}

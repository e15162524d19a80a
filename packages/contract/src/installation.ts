/**
 * Where an installation keeps its things, below its data directory. Who owns what is as important as where:
 * `server/` is the server's alone (0700), `edge/` is root's alone (0700), `run/` holds the one socket that
 * HAProxy and the edge use to reach the server, `lanes/` holds those between the parts of HAProxy, whose group may
 * only pass through it (0710), `edge.token` is readable by root and the server only (0640).
 */
export function installationPaths(dataDir: string) {
  return {
    serverDir: `${dataDir}/server`,
    database: `${dataDir}/server/postern.db`,
    liveDatabase: `${dataDir}/server/live.db`,
    /** The console, for root alone: what `ssh -L` forwards without a port that another user could hold. */
    consoleSocket: `${dataDir}/server/console.sock`,
    secretKey: `${dataDir}/server/secret.key`,
    /** The admin's password on its way to the first start, which reads it and removes the file. */
    firstPassword: `${dataDir}/server/first-password`,
    edgeToken: `${dataDir}/edge.token`,
    runDir: `${dataDir}/run`,
    serverSocket: `${dataDir}/run/server.sock`,
    lanesDir: `${dataDir}/lanes`,
    edgeDir: `${dataDir}/edge`,
    lastGood: `${dataDir}/edge/state.json`,
    /** The addresses of backends that are names. */
    names: `${dataDir}/edge/names.json`,
    counts: `${dataDir}/edge/counts.json`,
    haproxyDir: `${dataDir}/edge/haproxy`,
    wireguardDir: `${dataDir}/edge/wireguard`,
    starterPid: `${dataDir}/starter.pid`,
    /** Empty on disk; where the server finds the repository when its own place is closed to the server's user. */
    programDir: `${dataDir}/program`,
  } as const
}
export type InstallationPaths = ReturnType<typeof installationPaths>

/** System users: the server's, and the one HAProxy becomes after it has bound its ports. */
export const SYSTEM_USERS = { server: 'postern', proxy: 'postern-proxy' } as const

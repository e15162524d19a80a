/** One interface as `wg show NAME dump` prints it. The keys in it are secret. */
export interface WgDump {
  privateKey: string
  publicKey: string
  listenPort: number
  peers: WgPeer[]
}

export interface WgPeer {
  publicKey: string
  presharedKey: string
  /** `address:port`, or null before the first packet. */
  endpoint: string | null
  allowedIps: string[]
  /** ms since the epoch; null: never. */
  latestHandshake: number | null
  rx: number
  tx: number
  /** 0: off. */
  keepaliveSeconds: number
}

/** @throws TypeError when the text is not of that form. */
export function parseWgDump(text: string): WgDump {
  const [first = '', ...rest] = text.split('\n').filter((line) => line !== '')
  const [privateKey, publicKey, listenPort] = first.split('\t')
  if (privateKey === undefined || publicKey === undefined || listenPort === undefined)
    throw new TypeError('wg show did not print a dump')
  return { privateKey, publicKey, listenPort: Number(listenPort), peers: rest.map(parsePeer) }
}

function parsePeer(line: string): WgPeer {
  const [publicKey, presharedKey, endpoint, allowedIps, handshake, rx, tx, keepalive] = line.split('\t')
  if (publicKey === undefined || presharedKey === undefined || keepalive === undefined)
    throw new TypeError('wg show did not print a peer')
  return {
    publicKey,
    presharedKey,
    endpoint: endpoint === undefined || endpoint === '(none)' ? null : endpoint,
    allowedIps: allowedIps === undefined || allowedIps === '(none)' ? [] : allowedIps.split(',').sort(),
    latestHandshake: Number(handshake) > 0 ? Number(handshake) * 1000 : null,
    rx: Number(rx),
    tx: Number(tx),
    keepaliveSeconds: keepalive === 'off' ? 0 : Number(keepalive),
  }
}

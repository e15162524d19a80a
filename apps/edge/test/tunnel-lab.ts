import type { Exec } from '@postern/host/processes/exec'
import { createWireGuard } from '../src/drivers/tunnel/driver.ts'
import { makePeer, makeSettings } from './factories.ts'
import { type Lab, startLab } from './lab.ts'

export const TUNNEL_PORT = 51999
export const settings = makeSettings()
export const site = makePeer(1)
export const gateway = makePeer(2, { subnets: ['192.168.7.0/24', 'fd77::/64'] })
export const far = makePeer(3, { address4: '10.64.9.4', address6: 'fd00:1:2::904' })

/** A lab in which the edge's driver makes a tunnel. */
export async function startTunnelLab() {
  const lab = await startLab()
  return Object.assign(lab, {
    endpointsFile: `${lab.dir}/wireguard/${lab.interface}.endpoints`,
    driver: (exec: Exec = lab.exec) =>
      createWireGuard({
        exec,
        interface: lab.interface,
        dataDir: lab.dir,
        dir: `${lab.dir}/wireguard`,
        listenPort: TUNNEL_PORT,
        resolvConfs: [],
      }),
    world: () => readWorld(lab),
    async endpointOf(publicKey: string): Promise<string | undefined> {
      const lines = await lab.must('wg', 'show', lab.interface, 'endpoints')
      return new Map(lines.split('\n').map((line) => line.split('\t') as [string, string])).get(publicKey)
    },
    async publicKeyOf(privateKey: string): Promise<string> {
      const { stdout } = await lab.exec.run('wg', ['pubkey'], { input: privateKey, timeoutMs: 60_000 })
      return stdout.trim()
    },
  })
}

/** What is in force, as the programs themselves print it. */
async function readWorld(lab: Lab) {
  const lines = async (...args: [string, ...string[]]) =>
    (await lab.must(...args))
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.includes('fe80::') && !line.startsWith('ff00::'))
      .sort()
  const addresses = (await lab.must('ip', '-o', 'addr', 'show', 'dev', lab.interface)).matchAll(
    /inet6? (\S+)/g,
  )
  return {
    config: await lines('wg', 'showconf', lab.interface),
    addresses: [...addresses]
      .map((match) => match[1])
      .filter((text) => !text?.startsWith('fe80'))
      .sort(),
    routes: (await lines('ip', 'route', 'show', 'dev', lab.interface)).map((line) => line.split(' ')[0]),
    routes6: (await lines('ip', '-6', 'route', 'show', 'dev', lab.interface)).map(
      (line) => line.split(' ')[0],
    ),
    link: (await lab.must('ip', '-o', 'link', 'show', 'dev', lab.interface)).match(/mtu \d+|[<,]UP[,>]/g),
  }
}

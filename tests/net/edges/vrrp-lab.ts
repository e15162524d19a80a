import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { agentOn } from '@postern/testkit/agent'
import { type FarEdge, startFarEdge, WITH_CONTROL } from '@postern/testkit/far-edge'
import { type Installation, startInstallation } from '@postern/testkit/installation'
import { type Host, type Lab, startLab } from '@postern/testkit/lab/network'
import { startEcho } from '@postern/testkit/lab/upstreams'
import type { Running } from '@postern/testkit/processes/exec'
import { until } from '@postern/testkit/until'

const ROOT = join(import.meta.dirname, '../../..')
const VISITOR = fileURLToPath(
  new URL('../../../packages/testkit/src/programs/steady-visitor.ts', import.meta.url),
)
const DOMAIN = 'open.example.com'
/** As docs/several-edges.md has it. */
const SHARED = '203.0.113.200'
const VISIT_EVERY = 40

/** An edge with Debian's keepalived, by the configuration of docs/several-edges.md. */
interface Member {
  host: Host
  /** The port at the lab's switch; the edge beside the server has none. */
  far?: { edge: FarEdge; port: string }
  device: string
  priority: number
  keepalived: Running
}

/** What can become of an edge; each is ended before `mend`. */
export type Fate = 'its machine dies' | 'its link is cut' | 'its HAProxy is killed' | 'its HAProxy hangs'

export interface VrrpLab {
  /** The one that has the address; of two at the same time, none. */
  holder(): Promise<Member | undefined>
  /** @returns the longest time without a new connection that was answered, in ms, and what was answered wrongly */
  strike(fate: Fate): Promise<{ gap: number; wrong: string[]; visits: number }>
  close(): Promise<void>
}

/** Three edges behind one address, the one beside the server among them, and a node that all of them reach. */
export async function startVrrpLab(): Promise<VrrpLab> {
  const lab = await startLab()
  const dir = mkdtempSync(join(tmpdir(), 'pt-vrrp-'))
  const installation = await startInstallation(lab, WITH_CONTROL)
  const members: Member[] = []
  for (const number of [2, 3]) members.push(await startFarMember(lab, installation, dir, number))
  for (const member of members) await until('keepalived', () => isReady(member))
  // The last, with the lowest priority: what befalls the others must not befall the server.
  members.push(startMember(dir, { host: lab.server, device: 'br0', priority: 100 }))
  await publishAtAll(lab, installation, members)
  const holder = async () => {
    const has = await Promise.all(
      members.map(async ({ host, device }) =>
        (await host.run('ip', '-4', '-o', 'addr', 'show', 'dev', device)).stdout.includes(`${SHARED}/`),
      ),
    )
    const found = members.filter((_, index) => has[index])
    return found.length === 1 ? found[0] : undefined
  }
  return {
    holder,
    strike: (fate) => strike({ lab, dir, holder }, fate),
    async close() {
      for (const { keepalived, far } of members) {
        await keepalived.stop()
        await far?.edge.close()
      }
      await installation.close()
      await lab.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

async function startFarMember(
  lab: Lab,
  installation: Installation,
  dir: string,
  number: number,
): Promise<Member> {
  const octet = 20 + number
  const host = await lab.plugIn(`e${number}`, octet)
  const edge = await startFarEdge(installation, host, { name: `edge ${number}` })
  const member = startMember(dir, { host, device: 'eth0', priority: 100 + 50 * number })
  return { ...member, far: { edge, port: `p${octet}` } }
}

function startMember(dir: string, own: Omit<Member, 'keepalived'>): Member {
  return { ...own, keepalived: startKeepalived(dir, own) }
}

/** Whether it takes part: its health address answers, and it has the address or waits for it. */
function isReady({ keepalived }: Member): boolean {
  const states = keepalived.output().match(/Entering (\w+) STATE/g) ?? []
  return /BACKUP|MASTER/.test(states.at(-1) ?? '')
}

function startKeepalived(dir: string, { host, device, priority }: Omit<Member, 'keepalived'>): Running {
  const page = readFileSync(join(ROOT, 'docs/several-edges.md'), 'utf8')
  const [, text = ''] = /```conf\n([\s\S]*?)```/.exec(page) ?? []
  const file = join(dir, `${host.name}.conf`)
  writeFileSync(file, text.replace('eth0', device).replace('priority 100', `priority ${priority}`))
  const pids = ['-p', `${file}.pid`, '-r', `${file}.vrrp.pid`]
  return host.start(['keepalived', '--dont-fork', '--log-console', '--vrrp', '-f', file, ...pids], {
    logFile: `${file}.${performance.now()}.log`,
  })
}

async function publishAtAll(lab: Lab, installation: Installation, members: Member[]): Promise<void> {
  const { api, dataDir } = installation
  await startEcho(lab.site, `${dataDir}/upstreams`, 9000)
  const { id, token } = await api.createNode({ name: 'site' })
  await agentOn(lab.site, installation).connect(token, '--dns')
  await api.createDomain({ domain: DOMAIN })
  await api.publish(id, { name: 'open', domain: DOMAIN, backendPort: 9000 })
  for (const { host } of members)
    await until('the service at each edge', async () => (await ask(lab, host.address)) === '200')
}

async function ask({ visitor }: Lab, address: string): Promise<string> {
  const to = ['--resolve', `${DOMAIN}:443:${address}`]
  return (
    await visitor.run(
      'curl',
      '-sk',
      '-m',
      '2',
      '-o',
      '/dev/null',
      '-w',
      '%{http_code}',
      ...to,
      `https://${DOMAIN}/`,
    )
  ).stdout
}

interface Parts extends Pick<VrrpLab, 'holder'> {
  lab: Lab
  dir: string
}

/** Something befalls the edge that has the address, under load; then it is mended, and takes part again. */
async function strike({ lab, dir, holder }: Parts, fate: Fate) {
  const victim = await findVictim(holder, dir)
  const { host } = victim
  const logFile = join(dir, `visits-${performance.now()}.log`)
  const program = [process.execPath, VISITOR, SHARED, DOMAIN, String(VISIT_EVERY), lab.visitor.address]
  const visitor = lab.visitor.start(program, { logFile })
  const visits = () => parseVisits(visitor.output())
  const count = () => visits().filter(({ end }) => end === 'ok').length
  await until('visits', () => count() > 10)
  const mend = await FATES[fate](victim, lab)
  const before = count()
  // Longer than any gap that would pass, so that one that is too long is seen as long as it is.
  await new Promise((resolve) => setTimeout(resolve, 6000))
  await until('visits to be answered again', () => count() > before + 25)
  await mend(dir)
  await until('the edge to be back', async () => (await ask(lab, host.address)) === '200')
  await until('the edge to take part again', () => isReady(victim))
  await until('one edge to have the address', holder)
  // What returns must not do harm either.
  await new Promise((resolve) => setTimeout(resolve, 2000))
  await visitor.stop()
  return judge(visits())
}

/** On a busy machine the edge beside the server may have been faster: it gives the address to another again. */
async function findVictim(holder: VrrpLab['holder'], dir: string): Promise<Member> {
  return await until('an edge elsewhere to have the address', async () => {
    const member = await holder()
    if (!member || member.far) return member
    await member.keepalived.stop()
    await until('another', async () => (await holder())?.far)
    member.keepalived = startKeepalived(dir, member)
    return undefined
  })
}

const FATES: Record<Fate, (victim: Member, lab: Lab) => Promise<(dir: string) => Promise<void>>> = {
  async 'its machine dies'(victim) {
    const { host, device, far } = victim
    for (const pid of await host.listPids()) process.kill(pid, 'SIGKILL')
    return async (dir) => {
      // As a boot would.
      await host.run('ip', 'addr', 'del', `${SHARED}/24`, 'dev', device)
      await host.run('ip', 'link', 'del', far?.edge.interface ?? '')
      rmSync(`/var/run/wireguard/${far?.edge.interface}.sock`, { force: true })
      far?.edge.start()
      victim.keepalived = startKeepalived(dir, victim)
    }
  },
  async 'its link is cut'({ far }, { server }) {
    await server.must('ip', 'link', 'set', far?.port ?? '', 'down')
    return async () => void (await server.must('ip', 'link', 'set', far?.port ?? '', 'up'))
  },
  async 'its HAProxy is killed'({ far }) {
    for (const pid of haproxiesOf(far)) process.kill(pid, 'SIGKILL')
    return async () => undefined
  },
  async 'its HAProxy hangs'({ far }) {
    const pids = haproxiesOf(far)
    for (const pid of pids) process.kill(pid, 'SIGSTOP')
    return async () => {
      for (const pid of pids) {
        try {
          process.kill(pid, 'SIGCONT')
        } catch {
          // The edge has replaced it.
        }
      }
    }
  },
}

function haproxiesOf(far: Member['far']): number[] {
  const text = readFileSync(`${far?.edge.paths.haproxyDir}/haproxy.pid`, 'utf8')
  return text.trim().split('\n').map(Number)
}

interface Visit {
  began: number
  end: string
}

function parseVisits(output: string): Visit[] {
  return output.split('\n').flatMap((line) => {
    const [, began, end = ''] = /^(\d+) (.+)$/.exec(line) ?? []
    return began === undefined ? [] : [{ began: Number(began), end }]
  })
}

function judge(visits: Visit[]) {
  const answered = visits.flatMap(({ began, end }) => (end === 'ok' ? [began] : [])).sort((a, b) => a - b)
  const gaps = answered.slice(1).map((began, index) => began - (answered[index] ?? began))
  const wrong = visits.flatMap(({ end }) => (end.startsWith('wrong') ? [end] : []))
  return { gap: Math.max(...gaps), wrong, visits: visits.length }
}

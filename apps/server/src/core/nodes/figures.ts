import type { PeerFigures } from '@postern/contract/edge/edge-messages'
import { LIMITS } from '@postern/contract/limits'
import type { NodeStatus } from '@postern/contract/nodes'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { LiveBus } from '../../changes/live.ts'
import { flag } from '../../db/columns.ts'
import type { LiveDatabase } from '../../db/live-schema.ts'

/** How often figures reach the file; a crash loses at most these. */
const SAVE_EVERY_MS = 10_000
/** How often to check whether a node has vanished. */
const EXPIRE_EVERY_MS = 1000

/**
 * The newest figures of every node, in memory: those that all edges see together, and what each sees. The former are
 * saved from time to time, so that they survive a restart.
 */
export interface LiveFigures {
  find(nodeId: number): PeerFigures | undefined
  /** What one edge sees; undefined: it has not told of the node since this server started. */
  findAt(edgeId: number, nodeId: number): PeerFigures | undefined
  /** Whether an edge has told of it since this server started: what was saved before may be older than what was read then. */
  isTold(nodeId: number): boolean
  /** Takes an edge's observations, and hints at the nodes with new figures. */
  update(edgeId: number, peers: readonly PeerFigures[]): void
  /** Observations from before a node was enabled again do not count for its status. */
  doubt(nodeId: number): void
  /** Forgets a deleted node. */
  remove(nodeId: number): void
  /** Forgets what a removed edge saw. */
  removeEdge(edgeId: number): void
  /** Hints at nodes whose last handshake has just become too old, which changes their status. */
  expire(): void
  /** Writes new figures to the file. */
  save(): Promise<void>
  dispose(): Promise<void>
}

interface Parts {
  liveDb: Kysely<LiveDatabase>
  bus: LiveBus
  log: Logger
  clock(): number
}

export async function createLiveFigures({ liveDb, bus, log, clock }: Parts): Promise<LiveFigures> {
  const figures = await loadFigures(liveDb)
  const byEdge: ByEdge = new Map()
  const unsaved = new Set<number>()
  // An edge may still report a node that was deleted a moment ago. Ids are never used again.
  const gone = new Set<number>()
  const told = new Set<number>()
  const save = async () => {
    const ids = [...unsaved]
    unsaved.clear()
    await saveFigures(liveDb, ids, figures)
  }
  const emit = (fresh: readonly PeerFigures[], turned: readonly PeerFigures[]) =>
    bus.emit({ kind: 'figures', nodes: fresh.map(idOf), turned: turned.map(idOf) })
  /** Its status has changed, or it is seen for the first time. */
  const isOther = (before: PeerFigures | undefined, after: PeerFigures) =>
    statusOf(true, before, clock()) !== statusOf(true, after, clock()) ||
    (before?.latestHandshake ?? null) === null
  let looked = clock()
  const expire = () => {
    const [before, now] = [looked, clock()]
    looked = now
    const all = [figures, ...byEdge.values()].flatMap((seen) => [...seen.values()])
    const ids = all.filter((peer) => isFresh(peer, before) && !isFresh(peer, now)).map(idOf)
    const vanished = [...new Set(ids)].flatMap((id) => figures.get(id) ?? [])
    if (vanished.length > 0) emit(vanished, vanished)
  }
  const saving = setInterval(() => {
    save().catch((err: unknown) => log.warn({ err }, 'figures could not be saved'))
  }, SAVE_EVERY_MS).unref()
  const expiring = setInterval(expire, EXPIRE_EVERY_MS).unref()
  return {
    find: (nodeId) => figures.get(nodeId),
    findAt: (edgeId, nodeId) => byEdge.get(edgeId)?.get(nodeId),
    isTold: (nodeId) => told.has(nodeId),
    doubt(nodeId) {
      for (const seen of [figures, ...byEdge.values()]) {
        const before = seen.get(nodeId)
        if (before) seen.set(nodeId, { ...before, reachable: false })
      }
    },
    update(edgeId, peers) {
      const seen = byEdge.get(edgeId) ?? new Map<number, PeerFigures>()
      byEdge.set(edgeId, seen)
      const turned = new Set<number>()
      const fresh: PeerFigures[] = []
      for (const peer of peers.filter(({ nodeId }) => !gone.has(nodeId))) {
        const { nodeId } = peer
        told.add(nodeId)
        const here = seen.get(nodeId)
        const next = withPast(peer, here)
        if (here && isSame(here, next)) continue
        seen.set(nodeId, next)
        const before = figures.get(nodeId)
        const after = together(before, seenBy(byEdge, nodeId))
        if (isOther(before, after) || isOther(here, next)) turned.add(nodeId)
        if (isSame(before, after) && !turned.has(nodeId)) continue
        figures.set(nodeId, after)
        unsaved.add(nodeId)
        fresh.push(after)
      }
      if (fresh.length > 0)
        emit(
          fresh,
          fresh.filter(({ nodeId }) => turned.has(nodeId)),
        )
    },
    removeEdge(edgeId) {
      const seen = byEdge.get(edgeId)
      if (!seen) return
      byEdge.delete(edgeId)
      const left = [...seen.keys()].flatMap((nodeId) => {
        const [before, others] = [figures.get(nodeId), seenBy(byEdge, nodeId)]
        if (!before) return []
        return others.length > 0 ? [together(before, others)] : [{ ...before, reachable: false }]
      })
      for (const peer of left) {
        figures.set(peer.nodeId, peer)
        unsaved.add(peer.nodeId)
      }
      if (left.length > 0) emit(left, left)
    },
    remove(nodeId) {
      gone.add(nodeId)
      told.delete(nodeId)
      for (const seen of byEdge.values()) seen.delete(nodeId)
      if (figures.delete(nodeId)) unsaved.add(nodeId)
    },
    expire,
    save,
    async dispose() {
      clearInterval(saving)
      clearInterval(expiring)
      await save()
    },
  }
}

/** A new tunnel knows no previous handshake: what was seen in the previous tunnel stays true. */
function withPast(peer: PeerFigures, before: PeerFigures | undefined): PeerFigures {
  if (peer.latestHandshake !== null || !before) return peer
  return { ...before, clientIp: peer.clientIp ?? before.clientIp, reachable: false }
}

/** Edge → node → what it sees. */
type ByEdge = Map<number, Map<number, PeerFigures>>

function seenBy(byEdge: ByEdge, nodeId: number): PeerFigures[] {
  return [...byEdge.values()].flatMap((seen) => seen.get(nodeId) ?? [])
}

/**
 * The node carried what it carried at all edges together; it is as near as it is to the edge that heard of it last.
 * @param before what was known until now, from before this server started too
 */
function together(before: PeerFigures | undefined, seen: readonly PeerFigures[]): PeerFigures {
  const newest = seen.reduce((a, b) => ((b.latestHandshake ?? 0) > (a.latestHandshake ?? 0) ? b : a))
  const latestHandshake = newest.latestHandshake
  if (latestHandshake === null) return withPast(newest, before)
  const isNear = (peer: PeerFigures) => peer.reachable && isFresh(peer, latestHandshake)
  return {
    ...newest,
    rx: seen.reduce((sum, { rx }) => sum + rx, 0),
    tx: seen.reduce((sum, { tx }) => sum + tx, 0),
    reachable: seen.some(isNear),
  }
}

const idOf = ({ nodeId }: PeerFigures): number => nodeId

function isSame(a: PeerFigures | undefined, b: PeerFigures): boolean {
  return (
    a !== undefined &&
    a.latestHandshake === b.latestHandshake &&
    a.rx === b.rx &&
    a.tx === b.tx &&
    a.clientIp === b.clientIp &&
    a.reachable === b.reachable
  )
}

async function loadFigures(liveDb: Kysely<LiveDatabase>): Promise<Map<number, PeerFigures>> {
  const rows = await liveDb.selectFrom('figures').selectAll().execute()
  return new Map(
    rows.map((row) => [
      row.node_id,
      {
        nodeId: row.node_id,
        latestHandshake: row.latest_handshake,
        rx: row.rx,
        tx: row.tx,
        clientIp: row.client_ip,
        reachable: row.reachable === 1,
      },
    ]),
  )
}

async function saveFigures(
  liveDb: Kysely<LiveDatabase>,
  ids: readonly number[],
  figures: ReadonlyMap<number, PeerFigures>,
): Promise<void> {
  if (ids.length === 0) return
  await liveDb.transaction().execute(async (tx) => {
    for (const id of ids) {
      const peer = figures.get(id)
      if (!peer) {
        await tx.deleteFrom('figures').where('node_id', '=', id).execute()
        continue
      }
      const values = {
        latest_handshake: peer.latestHandshake,
        rx: peer.rx,
        tx: peer.tx,
        client_ip: peer.clientIp,
        reachable: flag(peer.reachable),
      }
      await tx
        .insertInto('figures')
        .values({ node_id: id, ...values })
        .onConflict((conflict) => conflict.column('node_id').doUpdateSet(values))
        .execute()
    }
  })
}

/** By what the tunnel shows, not by what people asked for. `now` in ms since the epoch. */
export function statusOf(enabled: boolean, figures: PeerFigures | undefined, now: number): NodeStatus {
  if (!enabled || !isFresh(figures, now)) return 'offline'
  return figures?.reachable ? 'online' : 'idle'
}

function isFresh(figures: PeerFigures | undefined, now: number): boolean {
  const handshake = figures?.latestHandshake ?? null
  return handshake !== null && now - handshake <= LIMITS.handshakeStale
}

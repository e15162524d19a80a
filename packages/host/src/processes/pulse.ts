/** The part of a WebSocket that `watchPulse` needs. */
interface Pulsing {
  readonly readyState: number
  readonly OPEN: number
  ping(): void
  terminate(): void
  on(event: 'pong' | 'close', listener: () => void): unknown
}

/** Ends a connection that left a ping unanswered for one round, in ms: it is dead, whatever TCP says. */
export function watchPulse(socket: Pulsing, round: number): void {
  let isAlive = true
  const timer = setInterval(() => {
    if (socket.readyState !== socket.OPEN) return
    if (!isAlive) return socket.terminate()
    isAlive = false
    socket.ping()
  }, round)
  socket.on('pong', () => {
    isAlive = true
  })
  socket.on('close', () => clearInterval(timer))
}

import { RecentHistory } from './RecentHistory.tsx'
import type { HistoryQuery } from './use-history.ts'

/** The history of something, as a card of its page. */
export function HistoryCard({ name, query }: { name: string; query: HistoryQuery }) {
  return (
    <section className="card" aria-labelledby="history">
      <header className="card-head">
        <h2 id="history">History</h2>
      </header>
      <RecentHistory name={name} query={query} />
    </section>
  )
}

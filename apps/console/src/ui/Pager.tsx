import { Button } from './Button.tsx'
import './Pager.css'

export interface PagerProps {
  page: number
  limit: number
  total: number
  onPage: (page: number) => void
}

/** Only there when there is more than one page. */
export function Pager({ page, limit, total, onPage }: PagerProps) {
  const pages = Math.ceil(total / limit)
  if (pages <= 1) return null
  const first = (page - 1) * limit + 1
  const last = Math.min(page * limit, total)
  return (
    <nav className="pager" aria-label="Pages">
      <p>
        Showing <b>{first}</b> to <b>{last}</b> of <b>{total}</b> results
      </p>
      <div>
        <Button disabled={page <= 1} onClick={() => onPage(page - 1)}>
          Previous
        </Button>
        <Button disabled={page >= pages} onClick={() => onPage(page + 1)}>
          Next
        </Button>
      </div>
    </nav>
  )
}

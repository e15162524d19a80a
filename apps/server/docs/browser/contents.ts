/** Marks in *On this page* the section that is being read. */
export function followReading(list: Element): void {
  const links = new Map(
    [...list.querySelectorAll('a')].map((link) => [decodeURIComponent(link.hash.slice(1)), link]),
  )
  const headings = [...links.keys()]
    .map((id) => document.getElementById(id))
    .filter((found) => found !== null)
  const mark = () => {
    // The last one above the upper third of the window; at the very end, the last one of all.
    const isAtEnd = window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 2
    const above = headings.filter((heading) => heading.getBoundingClientRect().top < window.innerHeight / 3)
    const current = isAtEnd && window.scrollY > 0 ? headings.at(-1) : above.at(-1)
    for (const [id, link] of links)
      if (id === current?.id) link.setAttribute('aria-current', 'location')
      else link.removeAttribute('aria-current')
  }
  new IntersectionObserver(mark, { threshold: [0, 1] }).observe(document.body)
  window.addEventListener('scroll', mark, { passive: true })
  window.addEventListener('resize', mark)
  mark()
}

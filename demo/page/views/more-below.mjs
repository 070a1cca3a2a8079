// A box that scrolls says by a fade that more is below.

export function showMoreBelow(scroll) {
  const look = () => {
    const { scrollTop, scrollHeight, clientHeight } = scroll;
    scroll.toggleAttribute("data-more", scrollHeight - scrollTop - clientHeight > 8);
  };
  scroll.addEventListener("scroll", look, { passive: true });
  const resized = new ResizeObserver(look);
  resized.observe(scroll);
  for (const part of scroll.children) resized.observe(part);
}

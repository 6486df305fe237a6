"""The words that texts are made of: lists of our own."""

PEOPLE = tuple(
    """
    Alice Anna Ben Bruno Carol Clara Daniel David Edith Emma Felix Frank Grace Hannah Harry Helen Henry Ida Jack
    James Jane John Julia Karl Kate Laura Leo Linda Louis Lucy Maria Mark Martin Mary Max Nina Oliver Oscar Paul
    Peter Rachel Robert Rosa Ruth Sam Sarah Simon Sophie Thomas Victor
    """.split()  # noqa: SIM905
)
"""50 people."""

RELATIONS = tuple(
    """
    teacher instructor mentor doctor lawyer neighbor friend boss manager partner coach student client owner
    cousin uncle brother sister rival guest
    """.split()  # noqa: SIM905
)
"""20 relations."""

PLACES = tuple(
    """
    market harbor garden valley library museum school forest castle station bakery theater village palace
    factory hotel meadow workshop attic cellar
    """.split()  # noqa: SIM905
)
"""20 places."""

CATEGORIES: dict[str, tuple[str, ...]] = {
    "fruit": ("apples", "pears", "plums", "cherries", "lemons", "grapes", "melons", "peaches"),
    "animals": ("cats", "dogs", "horses", "sheep", "goats", "rabbits", "ducks", "foxes"),
    "tools": ("hammers", "saws", "drills", "shovels", "rakes", "wrenches", "pliers", "axes"),
    "toys": ("kites", "dolls", "puzzles", "marbles", "balls", "drums", "yo-yos", "robots"),
    "clothes": ("shirts", "hats", "gloves", "scarves", "socks", "coats", "belts", "skirts"),
    "vehicles": ("cars", "trucks", "buses", "bicycles", "trains", "boats", "scooters", "vans"),
    "furniture": ("chairs", "tables", "beds", "desks", "sofas", "shelves", "lamps", "stools"),
    "vegetables": ("carrots", "onions", "peppers", "beans", "radishes", "turnips", "leeks", "potatoes"),
    "instruments": ("flutes", "violins", "pianos", "guitars", "trumpets", "harps", "cellos", "bells"),
    "stationery": ("pencils", "pens", "rulers", "erasers", "notebooks", "stamps", "folders", "brushes"),
    "flowers": ("roses", "tulips", "lilies", "daisies", "violets", "poppies", "orchids", "asters"),
    "dishes": ("cups", "plates", "bowls", "spoons", "forks", "knives", "jars", "pots"),
}
"""12 categories of 8 items each."""

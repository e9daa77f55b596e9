"""The labeled words of the paper, from its tables of topics in the New York Times and in Yelp's reviews."""

from __future__ import annotations

_NEWS = """
passenger coach art campaign energy tax chef oil court election lawyer anthrax golf bacteria film tourist horse
republican computer palestinian movie tennis fight music tablespoon nuclear racing war quarterback stock ball
patient champion business government season prison internet rain game voter baseball student president afghan medal
teacher television democratic onion campus car industry planet credit race wine prosecutor team economy wind
software
"""

_REVIEWS = """
cheese salon mexican chinese tea sushi nail wash insurance cream hair yoga tire vietnamese donuts crust ice pharmacy
beer bike yogurt korean pizza coffee sandwich pho gym park latte trail dentist starbucks taco salsa thai chocolate
bar noodle burrito salad burger hike pedicure fries dog panda beans subway car cake steak curry massage italian
"""

NEWS, REVIEWS = tuple(_NEWS.split()), tuple(_REVIEWS.split())
